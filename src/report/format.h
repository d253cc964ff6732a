// Numbers as reports print them.
#pragma once

#include <string>

namespace mneme {

// Three significant digits in the notation of the field: 0.001 -> "1e-3", 0.00316228 -> "3.16e-3".
std::string format_rate(double rate);

// A fraction in per cent with one decimal: 0.9876 -> "98.8". NaN -> "-".
std::string format_percent(double fraction);

}  // namespace mneme
