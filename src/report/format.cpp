#include "report/format.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>

namespace mneme {

std::string format_rate(double rate) {
  const std::string scientific = fmt::format("{:.2e}", rate);
  const std::size_t e = scientific.find('e');
  if (e == std::string::npos) return scientific;
  std::string digits = scientific.substr(0, e);
  digits.erase(digits.find_last_not_of('0') + 1);
  if (digits.back() == '.') digits.pop_back();
  return fmt::format("{}e{}", digits, std::atoi(scientific.c_str() + e + 1));
}

std::string format_percent(double fraction) {
  return std::isnan(fraction) ? "-" : fmt::format("{:.1f}", 100 * fraction);
}

}  // namespace mneme
