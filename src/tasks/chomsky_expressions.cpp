#include "tasks/chomsky.h"
#include "tasks/sampling.h"

namespace mneme::tasks {
namespace {

using Input = std::span<const std::int32_t>;
using Output = std::span<std::int32_t>;

// The tokens of a bracketed expression after the digits 0..modulus-1. `times` is kNone where it is not allowed.
struct Signs {
  static constexpr std::int32_t kNone = -1;
  std::int32_t modulus, plus, minus, times, open, close, unknown;
};

std::int32_t digit(Random& random, const Signs& signs) {
  return static_cast<std::int32_t>(random.below(static_cast<std::uint32_t>(signs.modulus)));
}

// Fills the whole span with one expression: d, -d, (d), (-d), or (left operator right).
void draw_expression(Random& random, const Signs& signs, Output out) {
  const std::size_t n = out.size();
  if (n <= 4) {
    if (n >= 3) out.front() = signs.open, out.back() = signs.close;
    const std::size_t at = n == 1 ? 0 : n == 4 ? 2 : 1;
    if (n % 2 == 0) out[at - 1] = signs.minus;
    out[at] = digit(random, signs);
    return;
  }
  const std::size_t left = 1 + random.below(static_cast<std::uint32_t>(n - 4));
  out.front() = signs.open;
  out.back() = signs.close;
  draw_expression(random, signs, out.subspan(1, left));
  draw_expression(random, signs, out.subspan(left + 2, n - left - 3));
  const std::uint32_t pick = random.below(signs.times == Signs::kNone ? 2 : 3);
  out[left + 1] = pick == 0 ? signs.plus : pick == 1 ? signs.minus : signs.times;
}

// Evaluates from `at` on with the unknown set to x, and moves `at` to the end of the expression.
std::int64_t evaluate(const Signs& signs, Input text, std::size_t& at, std::int64_t x) {
  const std::int32_t token = text[at++];
  if (token < signs.modulus) return token;
  if (token == signs.unknown) return x;
  if (token == signs.minus) return (signs.modulus - evaluate(signs, text, at, x)) % signs.modulus;
  const std::int64_t left = evaluate(signs, text, at, x);
  const std::int32_t sign = text[at++];
  if (sign == signs.close) return left;
  const std::int64_t right = evaluate(signs, text, at, x);
  ++at;  // the closing bracket
  if (sign == signs.plus) return (left + right) % signs.modulus;
  if (sign == signs.minus) return (left - right + signs.modulus) % signs.modulus;
  return left * right % signs.modulus;
}

class ModularArithmeticBrackets : public ChomskyRule {
 public:
  explicit ModularArithmeticBrackets(const Options& options) : signs_(signs(options)) {}

  // One more than are used: the reference counts x among them.
  std::int32_t input_symbols() const override { return signs_.modulus + 6; }
  std::int32_t answer_symbols() const override { return signs_.modulus; }
  void draw(Random& random, Output input) const override { draw_expression(random, signs_, input); }
  std::size_t answer(Input input, Output answer) const override {
    std::size_t at = 0;
    answer[0] = static_cast<std::int32_t>(evaluate(signs_, input, at, 0));
    return 1;
  }
  std::string symbol(std::int32_t token) const override {
    return token < signs_.modulus ? std::to_string(token) : std::string(1, "+-*()x"[token - signs_.modulus]);
  }

 private:
  static Signs signs(const Options& options) {
    const auto m = static_cast<std::int32_t>(options.integer("modulus"));
    return {.modulus = m,
            .plus = m,
            .minus = m + 1,
            .times = options.flag("multiply") ? m + 2 : Signs::kNone,
            .open = m + 3,
            .close = m + 4,
            .unknown = m + 5};
  }
  Signs signs_;
};

class SolveEquation : public ChomskyRule {
 public:
  explicit SolveEquation(const Options& options) {
    const auto m = static_cast<std::int32_t>(options.integer("modulus"));
    signs_ = {.modulus = m,
              .plus = m,
              .minus = m + 1,
              .times = Signs::kNone,
              .open = m + 2,
              .close = m + 3,
              .unknown = m + 4};
  }

  std::int32_t input_symbols() const override { return signs_.modulus + 6; }
  std::int32_t answer_symbols() const override { return signs_.modulus; }

  void draw(Random& random, Output input) const override {
    const Output expression = input.first(input.size() - 2);
    draw_expression(random, signs_, expression);
    std::size_t at = 0;
    input.back() = static_cast<std::int32_t>(evaluate(signs_, expression, at, 0));
    input[input.size() - 2] = signs_.unknown + 1;
    // The first digit from a random place on, around the end.
    at = random.below(static_cast<std::uint32_t>(expression.size()));
    while (expression[at] >= signs_.modulus) at = (at + 1) % expression.size();
    expression[at] = signs_.unknown;
  }

  std::size_t answer(Input input, Output answer) const override {
    // Without products the left side is c + x or c - x: its values at 0 and 1 tell all.
    const std::int64_t m = signs_.modulus;
    std::size_t at = 0;
    const std::int64_t at_zero = evaluate(signs_, input, at, 0);
    at = 0;
    const std::int64_t slope = (evaluate(signs_, input, at, 1) - at_zero + m) % m;
    const std::int64_t difference = (input.back() - at_zero + m) % m;
    answer[0] = static_cast<std::int32_t>(slope == 1 ? difference : (m - difference) % m);
    return 1;
  }

  std::string symbol(std::int32_t token) const override {
    return token < signs_.modulus ? std::to_string(token) : std::string(1, "+-()x="[token - signs_.modulus]);
  }

 private:
  Signs signs_{};
};

}  // namespace

std::vector<TaskEntry> chomsky_expression_entries() {
  const Field modulus = integer_field("modulus", 5, 2, 1000, "values are taken modulo this");
  return {
      chomsky_entry(
          "modular_arithmetic_brackets", "the value of a bracketed expression, modulo 5",
          "An expression of n tokens: d, -d, (d), (-d) or (left + right), (left - right), with multiply also\n"
          "(left * right); + - * ( ) are modulus to modulus + 4 | _ : its value modulo modulus.",
          1, build_rule<ModularArithmeticBrackets>, {modulus, flag_field("multiply", false, "use * too")}),
      chomsky_entry("solve_equation", "the digit that x stands for in a bracketed equation, modulo 5",
                    "expression = digit, n tokens in all, one digit of the expression replaced by x;\n"
                    "+ - ( ) x = are modulus to modulus + 5 | _ : the digit that x stands for.",
                    3, build_rule<SolveEquation>, {modulus}),
  };
}

}  // namespace mneme::tasks
