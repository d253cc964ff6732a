// The cards of the folder results/card, compiled into the program.
#pragma once

#include <span>
#include <string_view>

namespace mneme::report {

struct ShippedCard {
  std::string_view name;  // "gru": the file without its extension
  std::string_view text;
};

// By name.
std::span<const ShippedCard> shipped_card_files();

}  // namespace mneme::report
