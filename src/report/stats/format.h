// Numbers as reports print them.
#pragma once

#include <string>
#include <string_view>

namespace mneme::report {

// Three significant digits in the notation of the field: 0.001 -> "1e-3", 0.00316228 -> "3.16e-3".
std::string format_rate(double rate);

// A fraction in per cent with one decimal: 0.9876 -> "98.8". NaN -> "-".
std::string format_percent(double fraction);

// Labels as a person sorts them: numbers in them by value, so that "width 8" comes before "width 16".
struct LabelOrder {
  bool operator()(std::string_view a, std::string_view b) const;
};

}  // namespace mneme::report
