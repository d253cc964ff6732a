// Each rule against a second solution, written differently and only good for short inputs.
#include "tasks/chomsky.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>

#include "tasks/task_testing.h"

namespace mneme::tasks {
namespace {

using testing::make_example;
using testing::make_task;
using Tokens = std::vector<std::int32_t>;

struct Parts {
  Tokens input, answer;
};

Parts parts_of(const Task& task, const Example& example) {
  const auto empty = static_cast<std::int32_t>(task.shape().vocab - 2);
  Parts parts;
  for (std::size_t t = 0; t < example.tokens.size(); ++t) {
    if (example.tokens[t] < empty) {
      EXPECT_EQ(example.labels[t], kUnlabelled);
      EXPECT_EQ(parts.input.size(), t) << "the input stands first";
      parts.input.push_back(example.tokens[t]);
    } else if (example.labels[t] != kUnlabelled) {
      EXPECT_EQ(example.tokens[t], empty);
      EXPECT_EQ(parts.input.size() + parts.answer.size(), t) << "the answer follows without a gap";
      parts.answer.push_back(example.labels[t]);
    }
  }
  return parts;
}

std::string letters(const Task& task, const Tokens& tokens) {
  std::string text;
  for (const std::int32_t token : tokens) text += task.token_text(token);
  return text;
}

// Runs `expected` over many examples with inputs of 1 (or the shortest) to 20 symbols.
void expect_answers(const std::string& name, const std::function<Tokens(const Task&, const Tokens&)>& expected,
                    std::vector<std::string> options = {}) {
  options.push_back("max_length=20");
  const auto task = make_task(name, options);
  std::set<std::size_t> lengths;
  for (std::uint64_t i = 0; i < 2000; ++i) {
    const Parts parts = parts_of(*task, make_example(*task, i));
    lengths.insert(parts.input.size());
    ASSERT_EQ(parts.answer, expected(*task, parts.input)) << name << " " << letters(*task, parts.input);
  }
  EXPECT_GE(lengths.size(), name == "modular_arithmetic" ? 10U : 18U) << "all lengths occur";
}

std::int32_t number(bool bit) { return bit ? 1 : 0; }

TEST(Chomsky, ParityCheck) {
  expect_answers("parity_check", [](const Task&, const Tokens& input) {
    return Tokens{number(std::count(input.begin(), input.end(), 1) % 2 == 1)};
  });
}

TEST(Chomsky, EvenPairs) {
  expect_answers("even_pairs", [](const Task&, const Tokens& input) {
    int unequal = 0;
    for (std::size_t i = 1; i < input.size(); ++i) unequal += input[i] != input[i - 1];
    return Tokens{unequal % 2};
  });
}

TEST(Chomsky, CycleNavigation) {
  expect_answers("cycle_navigation", [](const Task&, const Tokens& input) {
    std::int32_t at = 0;
    for (const std::int32_t move : input) at = move == 0 ? (at + 4) % 5 : move == 2 ? (at + 1) % 5 : at;
    return Tokens{at};
  });
}

// A small calculator on the text itself: the first operator of lowest rank, from the right.
std::int64_t calculate(const std::string& text) {
  for (const std::string operators : {"+-", "*"}) {
    int depth = 0;
    for (std::size_t i = text.size(); i-- > 1;) {
      depth += text[i] == ')' ? 1 : text[i] == '(' ? -1 : 0;
      // A minus after an operator or a bracket is a sign, not an operation.
      const bool sign = std::string("+-*(").find(text[i - 1]) != std::string::npos;
      if (depth != 0 || sign || operators.find(text[i]) == std::string::npos) continue;
      const std::int64_t left = calculate(text.substr(0, i)), right = calculate(text.substr(i + 1));
      return text[i] == '+' ? left + right : text[i] == '-' ? left - right : left * right;
    }
  }
  if (text[0] == '-') return -calculate(text.substr(1));
  if (text[0] == '(') return calculate(text.substr(1, text.size() - 2));
  return std::stoll(text);
}

std::int32_t modulo(std::int64_t value, std::int64_t modulus) {
  return static_cast<std::int32_t>((value % modulus + modulus) % modulus);
}

TEST(Chomsky, ModularArithmetic) {
  const auto by_text = [](const Task& task, const Tokens& input) {
    return Tokens{modulo(calculate(letters(task, input)), task.shape().classes)};
  };
  expect_answers("modular_arithmetic", by_text);
  expect_answers("modular_arithmetic", by_text, {"modulus=3"});
  expect_answers("modular_arithmetic_brackets", by_text);
  expect_answers("modular_arithmetic_brackets", by_text, {"multiply=true", "modulus=7"});
}

TEST(Chomsky, SolveEquation) {
  expect_answers("solve_equation", [](const Task& task, const Tokens& input) {
    const std::string text = letters(task, input), left = text.substr(0, text.find('='));
    const std::int64_t right = std::stoll(text.substr(text.find('=') + 1));
    Tokens solutions;
    for (char x = '0'; x < '5'; ++x) {
      std::string filled = left;
      filled[left.find('x')] = x;
      if (modulo(calculate(filled), 5) == right) solutions.push_back(x - '0');
    }
    return solutions;  // there must be exactly one
  });
}

TEST(Chomsky, Strings) {
  expect_answers("reverse_string",
                 [](const Task&, const Tokens& input) { return Tokens(input.rbegin(), input.rend()); });
  expect_answers("duplicate_string", [](const Task&, const Tokens& input) {
    Tokens twice = input;
    twice.insert(twice.end(), input.begin(), input.end());
    return twice;
  });
  expect_answers("odds_first", [](const Task&, Tokens input) {
    Tokens order(input.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::int32_t>(i);
    std::stable_partition(order.begin(), order.end(), [](std::int32_t i) { return i % 2 == 1; });
    for (auto& place : order) place = input[static_cast<std::size_t>(place)];
    return order;
  });
  expect_answers("bucket_sort", [](const Task&, Tokens input) {
    std::sort(input.begin(), input.end());
    return input;
  });
}

TEST(Chomsky, MissingDuplicateString) {
  expect_answers("missing_duplicate_string", [](const Task&, Tokens input) {
    if (input.size() % 2 == 1) {
      EXPECT_EQ(input.back(), 3);
      input.pop_back();
    }
    // Whichever bit makes both halves equal.
    for (const std::int32_t bit : {0, 1}) {
      Tokens filled = input;
      std::replace(filled.begin(), filled.end(), 2, bit);
      if (std::equal(filled.begin(), filled.begin() + static_cast<std::ptrdiff_t>(filled.size() / 2),
                     filled.begin() + static_cast<std::ptrdiff_t>(filled.size() / 2)))
        return Tokens{bit};
    }
    return Tokens{};
  });
}

TEST(Chomsky, StackManipulation) {
  expect_answers("stack_manipulation", [](const Task& task, const Tokens& input) {
    Tokens stack;
    bool acting = false;
    for (const std::int32_t token : input) {
      const std::string action = task.token_text(token);
      const bool acts = action[0] == '+' || action[0] == '-';
      EXPECT_TRUE(acts || !acting) << "the stack stands before the actions";
      acting = acts;
      if (action == "-") {
        if (!stack.empty()) stack.pop_back();
      } else {
        stack.push_back(action.back() - '0');
      }
    }
    Tokens answer(stack.rbegin(), stack.rend());
    answer.push_back(2);
    return answer;
  });
}

std::uint64_t lowest_first(const Tokens& bits) {
  std::uint64_t value = 0;
  for (std::size_t i = bits.size(); i-- > 0;) value = 2 * value + static_cast<std::uint64_t>(bits[i]);
  return value;
}

Tokens closed_bits(std::uint64_t value) {
  Tokens bits;
  for (; value > 0; value /= 2) bits.push_back(static_cast<std::int32_t>(value % 2));
  bits.push_back(2);
  return bits;
}

TEST(Chomsky, BinaryNumbers) {
  const auto with = [](const std::function<std::uint64_t(std::uint64_t, std::uint64_t)>& operation) {
    return [operation](const Task&, const Tokens& input) {
      const auto sign = std::find(input.begin(), input.end(), 2);
      const std::uint64_t a = lowest_first({input.begin(), sign}), b = lowest_first({sign + 1, input.end()});
      EXPECT_TRUE(a > 0 && b > 0);
      return closed_bits(operation(a, b));
    };
  };
  expect_answers("binary_addition", with(std::plus<>()));
  expect_answers("binary_multiplication", with(std::multiplies<>()));
  expect_answers("compute_sqrt", [](const Task&, const Tokens& input) {
    const std::uint64_t value = lowest_first({input.rbegin(), input.rend()});
    auto root = static_cast<std::uint64_t>(std::sqrt(static_cast<double>(value)));
    while (root * root > value) --root;
    while ((root + 1) * (root + 1) <= value) ++root;
    Tokens bits;
    for (std::size_t i = (input.size() + 1) / 2; i-- > 0;) bits.push_back(static_cast<std::int32_t>(root >> i & 1));
    return bits;
  });
}

// Beyond 64 bits: the root r of n is right if r^2 <= n < (r + 1)^2, checked with our own multiplication
// through the task; and a product is checked modulo a prime.
TEST(Chomsky, LargeNumbersAgreeModuloAPrime) {
  constexpr std::uint64_t kPrime = 998'244'353;
  const auto residue = [](const Tokens& bits) {
    std::uint64_t value = 0;
    for (std::size_t i = bits.size(); i-- > 0;) value = (2 * value + static_cast<std::uint64_t>(bits[i])) % kPrime;
    return value;
  };
  const auto check = [&](const std::string& name, auto operation) {
    const auto task = make_task(name, {"min_length=301", "max_length=301"});
    for (std::uint64_t i = 0; i < 100; ++i) {
      Parts parts = parts_of(*task, make_example(*task, i));
      const auto sign = std::find(parts.input.begin(), parts.input.end(), 2);
      parts.answer.pop_back();
      ASSERT_EQ(residue(parts.answer),
                operation(residue({parts.input.begin(), sign}), residue({sign + 1, parts.input.end()})) % kPrime);
      ASSERT_EQ(parts.answer.back(), 1) << "no leading zeros";
    }
  };
  check("binary_addition", std::plus<>());
  check("binary_multiplication", std::multiplies<>());
}

TEST(Chomsky, LargeRootsSquareBack) {
  // n = r^2 + d with 0 <= d <= 2 r, so the answer must be r. Numbers of 2 * 100 bits from 100-bit roots.
  const auto task = make_task("compute_sqrt", {"min_length=200", "max_length=200"});
  const auto product = make_task("binary_multiplication", {"min_length=201", "max_length=201"});
  for (std::uint64_t i = 0; i < 50; ++i) {
    Random random(11, i);
    Tokens root(100), input(200);
    for (auto& bit : root) bit = static_cast<std::int32_t>(random.below(2));
    root.back() = 1;
    Tokens question = root;
    question.push_back(2);
    question.insert(question.end(), root.begin(), root.end());
    question.resize(402, 3);
    const Tokens square = product->solve(question);
    for (std::size_t bit = 0; bit < 200; ++bit) {
      const std::int32_t value = square[201 + bit];
      input[199 - bit] = value == 1 ? 1 : 0;
    }
    input.resize(300, 2);
    const Tokens answer = task->solve(input);
    ASSERT_EQ(Tokens(answer.rbegin(), answer.rbegin() + 100), root);
  }
}

}  // namespace
}  // namespace mneme::tasks
