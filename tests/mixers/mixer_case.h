// A mixer with the options that a test wants to see.
#pragma once

#include <string>
#include <vector>

#include "core/json.h"

namespace mneme::testing {

struct MixerCase {
  std::string name;
  Json options;
};

}  // namespace mneme::testing
