#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>

#include "core/error.h"
#include "study/dependent.h"

namespace mneme::study {
namespace {

// Recursive descent; a text that does not fit makes fitting_ false and the rest is skipped.
class Parser {
 public:
  Parser(std::string_view text, std::string_view origin, const NameLookup& lookup)
      : text_(text), origin_(origin), lookup_(lookup) {}

  std::optional<double> parse() {
    const double value = sum();
    skip_spaces();
    return fitting_ && at_ == text_.size() ? std::optional(value) : std::nullopt;
  }
  const std::string& unknown() const { return unknown_; }

 private:
  // Deeper nesting has no use and would exhaust the stack.
  static constexpr int kMostDepth = 100;

  void skip_spaces() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
  }
  bool take(char letter) {
    skip_spaces();
    if (at_ >= text_.size() || text_[at_] != letter) return false;
    ++at_;
    return true;
  }
  double misfit() {
    fitting_ = false;
    at_ = text_.size();
    return 0;
  }

  double sum() {
    double value = product();
    for (;;) {
      if (take('+'))
        value += product();
      else if (take('-'))
        value -= product();
      else
        return value;
    }
  }

  double product() {
    double value = factor();
    for (;;) {
      if (take('*')) {
        value *= factor();
      } else if (take('/')) {
        const double divisor = factor();
        if (fitting_ && divisor == 0)
          throw Error(ErrorKind::usage, origin_, fmt::format("\"{}\" divides by zero, expected a number", text_));
        value /= divisor;
      } else {
        return value;
      }
    }
  }

  double factor() {
    if (++depth_ > kMostDepth) return misfit();
    const double value = unnested();
    --depth_;
    return value;
  }

  double unnested() {
    if (take('-')) return -factor();
    if (take('(')) {
      const double value = sum();
      return take(')') ? value : misfit();
    }
    skip_spaces();
    if (at_ >= text_.size()) return misfit();
    const auto first = static_cast<unsigned char>(text_[at_]);
    if (std::isdigit(first) || first == '.') return number();
    if (std::isalpha(first) || first == '_') return name();
    return misfit();
  }

  double number() {
    double value = 0;
    const auto [end, code] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (code != std::errc()) return misfit();
    at_ = static_cast<std::size_t>(end - text_.data());
    return value;
  }

  double name() {
    const std::size_t start = at_;
    while (at_ < text_.size() &&
           (std::isalnum(static_cast<unsigned char>(text_[at_])) || text_[at_] == '_' || text_[at_] == '.'))
      ++at_;
    const std::string_view word = text_.substr(start, at_ - start);
    if ((word == "min" || word == "max") && take('(')) {
      const double a = sum();
      if (!take(',')) return misfit();
      const double b = sum();
      if (!take(')')) return misfit();
      return word == "min" ? std::min(a, b) : std::max(a, b);
    }
    if (const auto value = lookup_(word)) return *value;
    if (unknown_.empty()) unknown_ = word;
    return misfit();
  }

  std::string_view text_, origin_;
  const NameLookup& lookup_;
  std::size_t at_ = 0;
  int depth_ = 0;
  bool fitting_ = true;
  std::string unknown_;
};

}  // namespace

std::optional<double> evaluate_expression(std::string_view text, std::string_view origin, const NameLookup& lookup) {
  const std::string_view whole = text;
  const bool sure = text.starts_with('=');
  if (sure) text.remove_prefix(1);
  Parser parser(text, origin, lookup);
  const auto value = parser.parse();
  if (value && std::isfinite(*value)) return value;
  if (sure)
    throw Error(ErrorKind::usage, origin,
                parser.unknown().empty()
                    ? fmt::format("got \"{}\", expected arithmetic like \"= 16384 / task.length\"", whole)
                    : fmt::format("unknown name '{}' in \"{}\", expected the path of a number, like task.length",
                                  parser.unknown(), whole));
  return std::nullopt;
}

}  // namespace mneme::study
