#include <algorithm>

#include "tasks/chomsky.h"
#include "tasks/sampling.h"

namespace mneme::tasks {
namespace {

using Input = std::span<const std::int32_t>;
using Output = std::span<std::int32_t>;

// Inputs of independent uniform symbols, answered with symbols of the same kind.
class StringRule : public ChomskyRule {
 public:
  explicit StringRule(std::int32_t symbols) : symbols_(symbols) {}
  std::int32_t input_symbols() const override { return symbols_; }
  std::int32_t answer_symbols() const override { return symbols_; }
  std::size_t answer_room(std::size_t n) const override { return n; }
  void draw(Random& random, Output input) const override {
    fill_uniform(random, 0, static_cast<std::uint32_t>(symbols_), input);
  }

 private:
  std::int32_t symbols_;
};

class ReverseString : public StringRule {
 public:
  ReverseString() : StringRule(2) {}
  std::size_t answer(Input input, Output answer) const override {
    std::reverse_copy(input.begin(), input.end(), answer.begin());
    return input.size();
  }
};

class DuplicateString : public StringRule {
 public:
  DuplicateString() : StringRule(2) {}
  std::size_t answer_room(std::size_t n) const override { return 2 * n; }
  std::size_t answer(Input input, Output answer) const override {
    const auto second = std::copy(input.begin(), input.end(), answer.begin());
    std::copy(input.begin(), input.end(), second);
    return 2 * input.size();
  }
};

class OddsFirst : public StringRule {
 public:
  OddsFirst() : StringRule(2) {}
  std::size_t answer(Input input, Output answer) const override {
    std::size_t at = 0;
    for (std::size_t t = 1; t < input.size(); t += 2) answer[at++] = input[t];
    for (std::size_t t = 0; t < input.size(); t += 2) answer[at++] = input[t];
    return at;
  }
};

class BucketSort : public StringRule {
 public:
  explicit BucketSort(const Options& options) : StringRule(static_cast<std::int32_t>(options.integer("symbols"))) {}
  std::size_t answer(Input input, Output answer) const override {
    std::vector<std::size_t> counts(static_cast<std::size_t>(input_symbols()), 0);
    for (const std::int32_t symbol : input) ++counts[static_cast<std::size_t>(symbol)];
    auto at = answer.begin();
    for (std::size_t symbol = 0; symbol < counts.size(); ++symbol)
      at = std::fill_n(at, counts[symbol], static_cast<std::int32_t>(symbol));
    return input.size();
  }
};

// A string of bits twice, one of them replaced by 2; an odd length ends in 3.
class MissingDuplicateString : public ChomskyRule {
 public:
  static constexpr std::int32_t kMissing = 2, kOdd = 3;

  std::int32_t input_symbols() const override { return 4; }
  std::int32_t answer_symbols() const override { return 2; }

  void draw(Random& random, Output input) const override {
    const std::size_t half = input.size() / 2;
    fill_uniform(random, 0, 2, input.first(half));
    std::copy_n(input.begin(), half, input.begin() + static_cast<std::ptrdiff_t>(half));
    if (input.size() % 2 == 1) input.back() = kOdd;
    input[random.below(static_cast<std::uint32_t>(2 * half))] = kMissing;
  }

  std::size_t answer(Input input, Output answer) const override {
    const std::size_t half = input.size() / 2;
    const auto at = static_cast<std::size_t>(std::find(input.begin(), input.end(), kMissing) - input.begin());
    answer[0] = input[at < half ? at + half : at - half];
    return 1;
  }

  std::string symbol(std::int32_t token) const override {
    return token == kMissing ? "?" : token == kOdd ? "." : std::to_string(token);
  }
};

// A stack, bottom first, then actions on it; the answer is the stack, top first, closed by 2.
class StackManipulation : public ChomskyRule {
 public:
  static constexpr std::int32_t kPop = 2, kPush = 3, kEnd = 2;

  std::int32_t input_symbols() const override { return 5; }
  std::int32_t answer_symbols() const override { return 3; }
  double chance() const override { return 0.5; }
  std::size_t answer_room(std::size_t n) const override { return n + 1; }

  void draw(Random& random, Output input) const override {
    const auto n = static_cast<std::uint32_t>(input.size());
    const std::size_t stack = n == 1 ? 1 : 1 + random.below(n - 1);
    fill_uniform(random, 0, 2, input.first(stack));
    fill_uniform(random, kPop, 3, input.subspan(stack));
  }

  std::size_t answer(Input input, Output answer) const override {
    std::size_t height = 0;
    for (const std::int32_t token : input) {
      if (token != kPop)
        answer[height++] = token < kPop ? token : token - kPush;
      else if (height > 0)
        --height;  // an empty stack stays empty
    }
    std::reverse(answer.begin(), answer.begin() + static_cast<std::ptrdiff_t>(height));
    answer[height] = kEnd;
    return height + 1;
  }

  std::string symbol(std::int32_t token) const override {
    if (token < kPop) return std::to_string(token);
    return token == kPop ? "-" : token == kPush ? "+0" : "+1";
  }
  std::string answer_symbol(std::int32_t label) const override { return label == kEnd ? "." : std::to_string(label); }
};

}  // namespace

std::vector<TaskEntry> chomsky_string_entries() {
  return {
      chomsky_entry("reverse_string", "the input backwards", "n bits | n empty: the bits in reverse order.", 1,
                    build_rule<ReverseString>),
      chomsky_entry("duplicate_string", "the input twice", "n bits | 2 n empty: the bits, and once more.", 1,
                    build_rule<DuplicateString>),
      chomsky_entry("odds_first", "every second symbol, then the others",
                    "n bits | n empty: the bits at positions 1, 3, 5, ... (from 0), then those at 0, 2, 4, ...", 1,
                    build_rule<OddsFirst>),
      chomsky_entry("bucket_sort", "the input sorted", "n symbols | n empty: the same symbols in order.", 1,
                    build_rule<BucketSort>, {integer_field("symbols", 5, 2, 1000, "different symbols")}),
      chomsky_entry("missing_duplicate_string", "the missing symbol of a string written twice",
                    "n/2 bits twice, one of them replaced by 2 (shown ?), an odd n ends in 3 | _ : the replaced bit.",
                    2, build_rule<MissingDuplicateString>),
      chomsky_entry("stack_manipulation", "a stack after a series of pushes and pops",
                    "A stack of bits, bottom first, then actions 2, 3, 4 (pop, push 0, push 1; shown - +0 +1), n in "
                    "all | n + 1 empty:\nthe final stack, top first, then 2; positions after that have no label. "
                    "Popping an empty stack does nothing.",
                    1, build_rule<StackManipulation>),
  };
}

}  // namespace mneme::tasks
