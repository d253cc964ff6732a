// The values of one axis of a grid, from a list or from a series written as a string.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "core/config.h"

namespace mneme::study {

inline constexpr std::int64_t kMostRuns = 1000000;

// Reads "logspace(a, b, n)", "linspace(a, b, n)" or "range(a, b, step)" (b excluded, as in Python); nullopt
// if the text is none of these. Throws Error(usage) at `origin` for wrong arguments and more than kMostRuns values.
//
// The values are decimals that do not depend on the machine's mathematics library: inner values of logspace
// are rounded to 6 significant digits, those of the others to 12; the ends are kept as written. Where all
// arguments are integers and all values come out whole, they are integers.
std::optional<std::vector<ConfigValue>> parse_series(std::string_view text, std::string_view origin);

}  // namespace mneme::study
