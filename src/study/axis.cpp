#include "study/axis.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "core/error.h"
#include "core/text.h"

namespace mneme::study {
namespace {

constexpr int kLogDigits = 6;
constexpr int kLinearDigits = 12;

struct Call {
  std::string name;
  std::vector<double> arguments;
  bool whole = true;  // all arguments were written as integers
};

double rounded(double value, int digits) {
  const std::string text = fmt::format("{:.{}e}", value, digits - 1);
  double result = 0;
  std::from_chars(text.data(), text.data() + text.size(), result);
  return result;
}

std::string_view trimmed(std::string_view text) {
  const auto start = text.find_first_not_of(" \t\n");
  return start == text.npos ? std::string_view{} : text.substr(start, text.find_last_not_of(" \t\n") - start + 1);
}

std::optional<Call> parse_call(std::string_view text, std::string_view origin) {
  text = trimmed(text);
  Call call;
  for (const char* name : {"logspace", "linspace", "range"})
    if (text.starts_with(std::string(name) + "(")) call.name = name;
  if (text.starts_with("geomspace("))
    throw Error(ErrorKind::usage, origin, fmt::format("got \"{}\", expected logspace(first, last, count)", text));
  if (call.name.empty()) return std::nullopt;
  const std::string usage = call.name == "range" ? "range(start, end, step)" : call.name + "(first, last, count)";
  if (!text.ends_with(")")) throw Error(ErrorKind::usage, origin, fmt::format("got \"{}\", expected {}", text, usage));
  text.remove_prefix(call.name.size() + 1);
  text.remove_suffix(1);
  for (const std::string& part : split(text, ',')) {
    const std::string_view digits = trimmed(part);
    double number = 0;
    const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (code != std::errc() || end != digits.data() + digits.size() || !std::isfinite(number))
      throw Error(ErrorKind::usage, origin,
                  fmt::format("got '{}' in {}(...), expected a number: {}", digits, call.name, usage));
    call.arguments.push_back(number);
    call.whole = call.whole && digits.find_first_of(".eE") == digits.npos;
  }
  if (call.arguments.size() != 3)
    throw Error(
        ErrorKind::usage, origin,
        fmt::format("got {} arguments of {}(...), expected three: {}", call.arguments.size(), call.name, usage));
  return call;
}

std::vector<double> spaced(const Call& call, std::string_view origin) {
  const double a = call.arguments[0], b = call.arguments[1], n = call.arguments[2];
  const bool logarithmic = call.name == "logspace";
  if (n < 2 || n > static_cast<double>(kMostRuns) || n != std::floor(n))
    throw Error(
        ErrorKind::usage, origin,
        fmt::format("{}: got a count of {}, expected an integer from 2 to {}", call.name, n, grouped(kMostRuns)));
  if (logarithmic && (a <= 0 || b <= 0))
    throw Error(ErrorKind::usage, origin,
                fmt::format("logspace: got ends {} and {}, expected two positive numbers", a, b));
  std::vector<double> values;
  for (double i = 0; i < n; ++i) {
    const double share = i / (n - 1);
    if (i == 0 || i == n - 1)
      values.push_back(i == 0 ? a : b);
    else if (logarithmic)
      values.push_back(rounded(std::pow(10.0, std::log10(a) + share * (std::log10(b) - std::log10(a))), kLogDigits));
    else
      values.push_back(rounded(a + share * (b - a), kLinearDigits));
  }
  return values;
}

std::vector<double> stepped(const Call& call, std::string_view origin) {
  const double a = call.arguments[0], b = call.arguments[1], step = call.arguments[2];
  if (step == 0 || (b - a) / step <= 0)
    throw Error(ErrorKind::usage, origin,
                fmt::format("range({}, {}, {}) is empty, expected a step that leads from start to end", a, b, step));
  // A last value that rounding puts a hair below the end is the end, which is not included.
  const double count = std::ceil((b - a) / step - 1e-9);
  if (count > static_cast<double>(kMostRuns))
    throw Error(
        ErrorKind::usage, origin,
        fmt::format("range({}, {}, {}) has {:.3g} values, expected at most {}", a, b, step, count, grouped(kMostRuns)));
  std::vector<double> values;
  for (double i = 0; i < count; ++i) values.push_back(rounded(a + i * step, kLinearDigits));
  return values;
}

}  // namespace

std::optional<std::vector<ConfigValue>> parse_series(std::string_view text, std::string_view origin) {
  const auto call = parse_call(text, origin);
  if (!call) return std::nullopt;
  const std::vector<double> numbers = call->name == "range" ? stepped(*call, origin) : spaced(*call, origin);
  bool whole = call->whole;
  for (const double number : numbers) whole = whole && number == std::floor(number) && std::abs(number) < 9e15;
  std::vector<ConfigValue> values;
  for (const double number : numbers) {
    ConfigValue value{number, std::string(origin)};
    if (whole) value.value = static_cast<std::int64_t>(number);
    values.push_back(std::move(value));
  }
  return values;
}

}  // namespace mneme::study
