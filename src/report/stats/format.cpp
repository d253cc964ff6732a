#include "report/stats/format.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>

namespace mneme::report {

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

bool LabelOrder::operator()(std::string_view a, std::string_view b) const {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  const auto digits = [&](std::string_view text, std::size_t from) {
    std::size_t end = from;
    while (end < text.size() && is_digit(text[end])) ++end;
    return text.substr(from, end - from);
  };
  std::size_t i = 0, j = 0;
  while (i < a.size() && j < b.size()) {
    if (is_digit(a[i]) && is_digit(b[j])) {
      const std::string_view m = digits(a, i), n = digits(b, j);
      // Labels have no leading zeros: the longer number is the larger one.
      if (m.size() != n.size()) return m.size() < n.size();
      if (m != n) return m < n;
      i += m.size();
      j += n.size();
      continue;
    }
    if (a[i] != b[j]) return a[i] < b[j];
    ++i;
    ++j;
  }
  return a.size() - i < b.size() - j;
}

}  // namespace mneme::report
