// A task: a pure function (seed, split, index) -> example, and what must be known to train on it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/random.h"
#include "core/schema.h"
#include "tasks/example.h"

namespace mneme::tasks {

// Immutable once built, safe to share between threads.
class Task {
 public:
  virtual ~Task() = default;

  virtual TaskShape shape() const = 0;
  // Accuracy over labelled positions that needs no memory of the sequence; see each task's page.
  virtual double chance() const = 0;
  // Writes one example with the numbers of `random`. Must fill every element of the view's spans.
  virtual void generate(Random& random, const ExampleView& out) const = 0;
  // The same for validation and test, where those are not made like training examples.
  virtual void generate_evaluation(Random& random, const ExampleView& out) const { generate(random, out); }
  // The labels that follow from the tokens alone: the solution of a token task. Equal to the example's
  // labels, except that filler which happens to look like a question is answered too.
  virtual std::vector<std::int32_t> solve(std::span<const std::int32_t> tokens) const = 0;
  // One role per position, for display.
  virtual std::vector<Role> roles(const ExampleView& example) const = 0;
  // For each position where the answer is read off one earlier position, that position; -1 elsewhere.
  // Empty if answers of this task have no single source.
  virtual std::vector<std::int32_t> sources(const ExampleView&) const { return {}; }
  // A token and a label as a person writes them.
  virtual std::string token_text(std::int32_t token) const { return std::to_string(token); }
  virtual std::string label_text(std::int32_t label) const { return token_text(label); }
  // True if answers depend on the order of tokens, so that a model blind to order cannot solve it.
  virtual bool needs_positions() const { return true; }
};

// A direction in which a trained model can be tested beyond its training range.
struct GeneralisationAxis {
  std::string option;                // the option that grows
  std::vector<std::int64_t> values;  // where to test
  std::string help;
  // Moves the options that must go along (a longer context for a longer string); may be null.
  void (*follow)(Options& options) = nullptr;
};

// The options for testing at one value of an axis, with everything else as in training.
Options at_axis_value(const Options& options, const GeneralisationAxis& axis, std::int64_t value);

// What `mneme list tasks` and `mneme show task` print, and how a task is built.
struct TaskEntry {
  std::string name;
  std::string summary;
  std::string citation;
  std::string layout;  // a few lines: what is where, and what is labelled
  Schema options;
  std::vector<std::string> metrics;
  std::vector<GeneralisationAxis> axes;
  std::unique_ptr<Task> (*build)(const Options& options);  // throws Error(usage) on impossible sizes
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
  bool training_;
};

}  // namespace mneme::tasks
