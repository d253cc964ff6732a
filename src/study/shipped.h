// The studies of the folder studies/, compiled into the program.
#pragma once

#include <span>
#include <string_view>

namespace mneme::study {

struct ShippedStudy {
  std::string_view name;  // "demo", "recall/fig1": the file in studies/ without its extension
  std::string_view text;
};

// By name.
std::span<const ShippedStudy> shipped_studies();

}  // namespace mneme::study
