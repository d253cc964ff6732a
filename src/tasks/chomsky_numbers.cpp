#include <algorithm>

#include "tasks/chomsky.h"
#include "tasks/sampling.h"

namespace mneme::tasks {
namespace {

using Input = std::span<const std::int32_t>;
using Output = std::span<std::int32_t>;
using Limbs = std::vector<std::uint32_t>;  // a large number, lowest 32 bits first

constexpr std::int32_t kSign = 2;  // between two numbers; also what ends an answer

// Random bits, not all zero: a number from 1 to 2^n - 1.
void draw_positive(Random& random, Output bits) {
  do {
    fill_uniform(random, 0, 2, bits);
  } while (std::find(bits.begin(), bits.end(), 1) == bits.end());
}

Limbs limbs(Input bits) {
  Limbs number((bits.size() + 31) / 32, 0);
  for (std::size_t i = 0; i < bits.size(); ++i) number[i / 32] |= static_cast<std::uint32_t>(bits[i]) << (i % 32);
  return number;
}

std::int32_t bit(const Limbs& number, std::size_t i) {
  return i / 32 < number.size() ? static_cast<std::int32_t>(number[i / 32] >> (i % 32) & 1) : 0;
}

// Two numbers in binary, lowest bit first, with a sign between them.
class TwoNumbers : public ChomskyRule {
 public:
  std::int32_t input_symbols() const override { return 3; }
  std::int32_t answer_symbols() const override { return 3; }
  double chance() const override { return 0.5; }
  std::string answer_symbol(std::int32_t label) const override { return label == kSign ? "." : std::to_string(label); }

  void draw(Random& random, Output input) const override {
    const std::size_t first = 1 + random.below(static_cast<std::uint32_t>(input.size() - 2));
    draw_positive(random, input.first(first));
    input[first] = kSign;
    draw_positive(random, input.subspan(first + 1));
  }

 protected:
  static std::size_t split_at(Input input) {
    return static_cast<std::size_t>(std::find(input.begin(), input.end(), kSign) - input.begin());
  }

  // Drops the zeros at the high end of `count` bits and closes the number.
  static std::size_t finish(Output answer, std::size_t count) {
    while (count > 1 && answer[count - 1] == 0) --count;
    answer[count] = kSign;
    return count + 1;
  }
};

class BinaryAddition : public TwoNumbers {
 public:
  std::size_t answer_room(std::size_t n) const override { return n + 1; }

  std::size_t answer(Input input, Output answer) const override {
    const std::size_t at = split_at(input);
    const Input a = input.first(at), b = input.subspan(at + 1);
    const std::size_t width = std::max(a.size(), b.size());
    std::int32_t carry = 0;
    for (std::size_t i = 0; i < width; ++i) {
      const std::int32_t sum = (i < a.size() ? a[i] : 0) + (i < b.size() ? b[i] : 0) + carry;
      answer[i] = sum & 1;
      carry = sum >> 1;
    }
    answer[width] = carry;
    return finish(answer, width + 1);
  }

  std::string symbol(std::int32_t token) const override { return token == kSign ? "+" : std::to_string(token); }
};

class BinaryMultiplication : public TwoNumbers {
 public:
  std::size_t answer_room(std::size_t n) const override { return n; }

  std::size_t answer(Input input, Output answer) const override {
    const std::size_t at = split_at(input);
    const Limbs a = limbs(input.first(at)), b = limbs(input.subspan(at + 1));
    Limbs product(a.size() + b.size(), 0);
    for (std::size_t i = 0; i < a.size(); ++i) {
      std::uint64_t carry = 0;
      for (std::size_t j = 0; j < b.size() || carry; ++j) {
        carry += product[i + j] + (j < b.size() ? std::uint64_t{a[i]} * b[j] : 0);
        product[i + j] = static_cast<std::uint32_t>(carry);
        carry >>= 32;
      }
    }
    const std::size_t width = input.size() - 1;
    for (std::size_t i = 0; i < width; ++i) answer[i] = bit(product, i);
    return finish(answer, width);
  }

  std::string symbol(std::int32_t token) const override { return token == kSign ? "*" : std::to_string(token); }
};

// A number, highest bit first, and the whole part of its square root, with (n + 1) / 2 bits.
class ComputeSqrt : public ChomskyRule {
 public:
  std::int32_t input_symbols() const override { return 2; }
  std::int32_t answer_symbols() const override { return 2; }
  std::size_t answer_room(std::size_t n) const override { return (n + 1) / 2; }
  void draw(Random& random, Output input) const override { draw_positive(random, input); }

  std::size_t answer(Input input, Output answer) const override {
    // By hand, as in school: two bits of the number come down, and the next bit of the root is 1 if
    // the remainder still holds 4 * root + 1.
    const std::size_t count = (input.size() + 1) / 2;
    const std::size_t size = (count + 2) / 32 + 1;
    Limbs remainder(size, 0), root(size, 0), trial(size, 0);
    std::size_t next = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const std::int32_t high = i == 0 && input.size() % 2 == 1 ? 0 : input[next++];
      shift_in(remainder, static_cast<std::uint32_t>(high));
      shift_in(remainder, static_cast<std::uint32_t>(input[next++]));
      trial = root;
      shift_in(trial, 0);
      shift_in(trial, 1);
      answer[i] = subtract_if_enough(remainder, trial);
      shift_in(root, static_cast<std::uint32_t>(answer[i]));
    }
    return count;
  }

 private:
  static void shift_in(Limbs& number, std::uint32_t lowest) {
    for (std::uint32_t& limb : number) {
      const std::uint32_t out = limb >> 31;
      limb = limb << 1 | lowest;
      lowest = out;
    }
  }

  static bool subtract_if_enough(Limbs& from, const Limbs& what) {
    if (std::lexicographical_compare(from.rbegin(), from.rend(), what.rbegin(), what.rend())) return false;
    std::int64_t borrow = 0;
    for (std::size_t i = 0; i < from.size(); ++i) {
      const std::int64_t difference = std::int64_t{from[i]} - what[i] + borrow;
      from[i] = static_cast<std::uint32_t>(difference);
      borrow = difference >> 32;
    }
    return true;
  }
};

}  // namespace

std::vector<TaskEntry> chomsky_number_entries() {
  return {
      chomsky_entry("binary_addition", "the sum of two binary numbers, lowest bit first",
                    "number 2 number, lowest bit first, n tokens in all | n + 1 empty: their sum, lowest bit first, "
                    "without\nleading zeros, then 2; positions after that have no label.",
                    3, build_rule<BinaryAddition>),
      chomsky_entry("binary_multiplication", "the product of two binary numbers, lowest bit first",
                    "number 2 number, lowest bit first, n tokens in all | n empty: their product, lowest bit first, "
                    "without\nleading zeros, then 2; positions after that have no label.",
                    3, build_rule<BinaryMultiplication>),
      chomsky_entry(
          "compute_sqrt", "the whole part of the square root of a binary number",
          "A number of n bits, highest first | (n + 1)/2 empty: the whole part of its square root, as many bits.", 1,
          build_rule<ComputeSqrt>),
  };
}

}  // namespace mneme::tasks
