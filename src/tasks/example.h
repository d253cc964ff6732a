// One example of a task: its inputs and labels, and where they are written.
//
// Inputs and labels of token tasks are class numbers; those of signal tasks are one real number per step.
// Both have the same shape: `length` inputs and `length` labels. A label of -100 (kUnlabelled) means none;
// every step of a signal task has a label. label[t] is what must be output at input position t:
// nothing is shifted later.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace mneme::tasks {

inline constexpr std::int32_t kUnlabelled = -100;

enum class Split { train, validation, test };

std::string_view split_name(Split split);
Split parse_split(std::string_view name);  // throws Error(usage)

// What a position is for, to show an example to a person.
enum class Role : std::uint8_t { filler, key, value, query, data, marker, answer, padding };

std::string_view role_name(Role role);

// Where one example is written. Token tasks fill tokens and labels, signal tasks signal and targets;
// the other two are empty. All spans have the task's length.
struct ExampleView {
  std::span<std::int32_t> tokens;
  std::span<std::int32_t> labels;
  std::span<float> signal;
  std::span<float> targets;
};

struct TaskShape {
  std::int64_t length = 0;   // positions per example; shorter examples are padded on the right
  std::int64_t vocab = 0;    // input tokens are in [0, vocab); 0 for a signal task
  std::int64_t classes = 0;  // labels are in [0, classes); 0 for a signal task
  double labelled = 0;       // expected number of labelled positions per training example
  bool is_signal() const { return vocab == 0; }
};

// An example with its own memory, for display and tests.
struct Example {
  std::vector<std::int32_t> tokens, labels;
  std::vector<float> signal, targets;
  explicit Example(const TaskShape& shape);
  ExampleView view() { return {tokens, labels, signal, targets}; }
};

}  // namespace mneme::tasks
