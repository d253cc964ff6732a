// A mixer with the options that a test wants to see.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "core/json.h"

namespace mneme::testing {

struct MixerCase {
  std::string name;
  Json options;
};

inline void PrintTo(const MixerCase& entry, std::ostream* out) { *out << entry.name << " " << entry.options.dump(); }

}  // namespace mneme::testing
