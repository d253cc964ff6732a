#include "tasks/chomsky.h"
#include "tasks/sampling.h"

namespace mneme::tasks {
namespace {

class ParityCheck : public ChomskyRule {
 public:
  std::int32_t input_symbols() const override { return 2; }
  std::int32_t answer_symbols() const override { return 2; }
  void draw(Random& random, std::span<std::int32_t> input) const override { fill_uniform(random, 0, 2, input); }
  std::size_t answer(std::span<const std::int32_t> input, std::span<std::int32_t> answer) const override {
    answer[0] = 0;
    for (const std::int32_t bit : input) answer[0] ^= bit;
    return 1;
  }
};

class EvenPairs : public ChomskyRule {
 public:
  std::int32_t input_symbols() const override { return 2; }
  std::int32_t answer_symbols() const override { return 2; }
  void draw(Random& random, std::span<std::int32_t> input) const override { fill_uniform(random, 0, 2, input); }
  std::size_t answer(std::span<const std::int32_t> input, std::span<std::int32_t> answer) const override {
    // The number of unequal neighbours is odd exactly if the ends differ.
    answer[0] = input.front() ^ input.back();
    return 1;
  }
};

class CycleNavigation : public ChomskyRule {
 public:
  static constexpr std::int32_t kCycle = 5;

  std::int32_t input_symbols() const override { return 3; }
  std::int32_t answer_symbols() const override { return kCycle; }
  void draw(Random& random, std::span<std::int32_t> input) const override { fill_uniform(random, 0, 3, input); }
  std::size_t answer(std::span<const std::int32_t> input, std::span<std::int32_t> answer) const override {
    std::int64_t position = 0;
    for (const std::int32_t move : input) position += move - 1;
    answer[0] = static_cast<std::int32_t>((position % kCycle + kCycle) % kCycle);
    return 1;
  }
  std::string symbol(std::int32_t token) const override { return std::string(1, "<=>"[token]); }
};

// digit operator digit ... digit, multiplication before addition and subtraction.
class ModularArithmetic : public ChomskyRule {
 public:
  explicit ModularArithmetic(const Options& options)
      : modulus_(static_cast<std::int32_t>(options.integer("modulus"))) {}

  // Digits, + - *, and a blank that the reference reserves and never draws.
  std::int32_t input_symbols() const override { return modulus_ + 4; }
  std::int32_t answer_symbols() const override { return modulus_; }
  bool has_length(std::size_t n) const override { return n % 2 == 1; }

  void draw(Random& random, std::span<std::int32_t> input) const override {
    for (std::size_t t = 0; t < input.size(); ++t)
      input[t] = t % 2 == 0 ? static_cast<std::int32_t>(random.below(static_cast<std::uint32_t>(modulus_)))
                            : modulus_ + static_cast<std::int32_t>(random.below(3));
  }

  std::size_t answer(std::span<const std::int32_t> input, std::span<std::int32_t> answer) const override {
    // The value so far is sum + sign * product; only + and - close a product.
    std::int64_t sum = 0, product = input[0], sign = 1;
    for (std::size_t t = 1; t < input.size(); t += 2) {
      const std::int64_t digit = input[t + 1];
      if (input[t] == modulus_ + 2) {
        product = product * digit % modulus_;
      } else {
        sum += sign * product;
        sign = input[t] == modulus_ ? 1 : -1;
        product = digit;
      }
    }
    sum = (sum + sign * product) % modulus_;
    answer[0] = static_cast<std::int32_t>(sum < 0 ? sum + modulus_ : sum);
    return 1;
  }

  std::string symbol(std::int32_t token) const override {
    return token < modulus_ ? std::to_string(token) : std::string(1, "+-*_"[token - modulus_]);
  }

 private:
  std::int32_t modulus_;
};

}  // namespace

std::vector<TaskEntry> chomsky_regular_entries() {
  std::vector<TaskEntry> entries = {
      chomsky_entry("parity_check", "whether the number of ones is odd",
                    "n bits | _ : 1 if the number of ones is odd, else 0.", 1, build_rule<ParityCheck>),
      chomsky_entry("even_pairs", "whether the number of unequal neighbours is odd",
                    "n bits | _ : 1 if the number of unequal neighbours (01 and 10) is odd, else 0.", 1,
                    build_rule<EvenPairs>),
      chomsky_entry("cycle_navigation", "where on a cycle of five a walk ends",
                    "n moves 0, 1, 2 (left, stay, right; shown < = >) | _ : the position on a cycle of 5, from 0.", 1,
                    build_rule<CycleNavigation>),
      chomsky_entry("modular_arithmetic", "the value of digits joined by + - *, modulo 5",
                    "digit operator digit ... digit (n odd; operators + - * are modulus, modulus + 1, modulus + 2;\n"
                    "the reference reserves modulus + 3 for a blank) | _ : its value modulo modulus, * before + and -.",
                    1, build_rule<ModularArithmetic>,
                    {integer_field("modulus", 5, 2, 1000, "values are taken modulo this")}),
  };
  entries.back().axes[0].values = {51, 61, 71, 81, 91, 101};  // lengths are odd
  return entries;
}

}  // namespace mneme::tasks
