// A task: a pure function (seed, split, index) -> example, and what must be known to train on it.
//
// Token tasks read and ask for class numbers; signal tasks read and ask for one real number a step.
// Both have the same shape: every example fills `length` inputs and `length` answers, label -100
// (kNotAsked) where nothing is asked; a signal task asks at every step. label[t] is what must be output
// at input position t: nothing is shifted later.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/random.h"
#include "core/schema.h"

namespace mneme {

inline constexpr std::int32_t kNotAsked = -100;

enum class Split { train, validation, test };

std::string_view split_name(Split split);
Split parse_split(std::string_view name);  // throws Error(usage)

// What a position is for, to show an example to a person.
enum class Role : std::uint8_t { filler, key, value, query, data, marker, answer, padding };

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
  double asked = 0;          // expected number of asked positions per example (exact where constant)
  bool is_signal() const { return vocab == 0; }
};

// A direction in which a trained model can be tested beyond its training range.
struct GeneralisationAxis {
  std::string option;                // the option that grows
  std::vector<std::int64_t> values;  // where to test
  std::string help;
};

// Immutable once built, safe to share between threads.
class Task {
 public:
  virtual ~Task() = default;

  virtual TaskShape shape() const = 0;
  // Accuracy over asked positions of the best answer that uses no memory; see each task's page.
  virtual double chance() const = 0;
  // Writes one example with the numbers of `random`. Must fill every element of the view's spans.
  virtual void generate(Random& random, const ExampleView& out) const = 0;
  // One role per position, for display.
  virtual std::vector<Role> roles(const ExampleView& example) const = 0;
  // True if answers depend on where tokens stand, so that a model blind to order cannot solve it.
  virtual bool needs_positions() const { return true; }
};

// What `mneme list tasks` and `mneme show task` print, and how a task is built.
struct TaskEntry {
  std::string name;
  std::string summary;
  std::string citation;
  std::string layout;  // a few lines: what stands where, what is asked
  Schema options;
  std::vector<std::string> metrics;
  std::vector<GeneralisationAxis> axes;
  std::unique_ptr<Task> (*build)(const Options& options);
};

// The one list of tasks.
const std::vector<TaskEntry>& task_list();
// Throws Error(usage) with the nearest known name.
const TaskEntry& find_task(std::string_view name, std::string_view origin = "task.name");

// Writes example `index` of a split: the only way examples are made.
class ExampleSource {
 public:
  ExampleSource(const Task& task, std::uint64_t data_seed, Split split);
  void write(std::uint64_t index, const ExampleView& out) const;

 private:
  const Task& task_;
  std::uint64_t key_;
};

// An example with its own memory, for display and tests.
struct Example {
  std::vector<std::int32_t> tokens, labels;
  std::vector<float> signal, targets;
  explicit Example(const TaskShape& shape);
  ExampleView view() { return {tokens, labels, signal, targets}; }
};

}  // namespace mneme
