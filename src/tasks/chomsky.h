// The tasks of the Chomsky hierarchy (Deletang et al. 2023): a string, then its answer, symbol by symbol.
//
// Layout: an input of random length n, then as many empty tokens as the answer has symbols, which are
// their labels; shorter examples are padded. Tokens: the input's symbols, then the empty token, then
// padding. Each task is a ChomskyRule: how an input is drawn and what its answer is.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "tasks/task.h"

namespace mneme::tasks {

class ChomskyRule {
 public:
  virtual ~ChomskyRule() = default;

  virtual std::int32_t input_symbols() const = 0;
  virtual std::int32_t answer_symbols() const = 0;
  // An upper bound of the answer's length; it grows with the input's length n.
  virtual std::size_t answer_room(std::size_t n) const { return static_cast<void>(n), 1; }
  // Whether there are inputs of this length.
  virtual bool has_length(std::size_t n) const { return static_cast<void>(n), true; }

  virtual void draw(Random& random, std::span<std::int32_t> input) const = 0;
  // Writes the answer and returns its length. `answer` holds answer_room(input.size()) symbols.
  virtual std::size_t answer(std::span<const std::int32_t> input, std::span<std::int32_t> answer) const = 0;

  // Accuracy of guessing; three answer symbols count as two if one of them only ends an answer.
  virtual double chance() const { return 1.0 / answer_symbols(); }
  virtual std::string symbol(std::int32_t token) const { return std::to_string(token); }
  virtual std::string answer_symbol(std::int32_t label) const { return std::to_string(label); }
};

std::unique_ptr<Task> build_chomsky(const Options& options, std::unique_ptr<ChomskyRule> rule);

// The entry of a rule that has no options but the lengths, or one of them more (`extra`).
TaskEntry chomsky_entry(std::string name, std::string summary, std::string layout, std::int64_t shortest,
                        std::unique_ptr<Task> (*build)(const Options&), Schema extra = {});

// All of them, grouped by file: regular, strings, expressions, binary numbers.
std::vector<TaskEntry> chomsky_regular_entries();
std::vector<TaskEntry> chomsky_string_entries();
std::vector<TaskEntry> chomsky_expression_entries();
std::vector<TaskEntry> chomsky_number_entries();

// A build function for a rule made from the options, or from nothing.
template <class Rule>
std::unique_ptr<Task> build_rule(const Options& options) {
  if constexpr (std::is_constructible_v<Rule, const Options&>)
    return build_chomsky(options, std::make_unique<Rule>(options));
  else
    return build_chomsky(options, std::make_unique<Rule>());
}

}  // namespace mneme::tasks
