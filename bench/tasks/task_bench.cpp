// Measures how fast examples are made, on one thread, against what training needs.
//
// Prints one line per case: examples and tokens per second of processor time (so that a busy machine
// does not distort it), the required rate, and ok, SLOW, or the reason why it may be slower.
// Exit code 1 if a case is SLOW. Usage: task-bench [seconds per case] [part of a name]
#include <fmt/format.h>

#include <cstdlib>
#include <ctime>
#include <string>
#include <vector>

#include "core/config.h"
#include "tasks/task.h"

namespace {

using namespace mneme;

struct Case {
  std::string task;
  std::vector<std::string> overrides;
  double examples_required = 0;  // per second; 0: the common rate of tokens counts
  std::string reason = "";       // why a slower rate is accepted
};

constexpr double kTokensRequired = 20e6;

std::vector<Case> cases() {
  std::vector<Case> list = {
      {"mqar", {"length=64", "pairs=4", "vocab=8192"}, 500'000},
      {"mqar", {"length=512", "pairs=64", "vocab=8192"}, 60'000},
      {"mqar", {"length=64", "pairs=4", "vocab=8192", "vocabulary=shared"}, 500'000},
      {"copy", {"variant=prefix_ngram", "min_length=8"}},
      {"copy", {"variant=suffix_ngram", "min_length=8"}},
      {"copy", {"variant=duplicate_ngram", "min_length=8"}},
      {"copy", {"min_length=5", "max_length=300", "context=604"}},
      {"state_tracking", {"group=Z60", "length=512"}},
      {"state_tracking", {"group=A7", "length=512"}, 0, "each step waits for a row of a table of 13 MB, beyond the cache"},
      {"counting", {"length=1000", "isi=50", "iti=[100, 200]"}},
  };
  for (const TaskEntry& entry : task_list())
    if (entry.name != "mqar") list.push_back({entry.name, {}});
  return list;
}

double processor_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

bool measure(const Case& entry, double seconds) {
  ConfigValue table{ConfigTable{}, ""};
  for (const std::string& assignment : entry.overrides) apply_override(table, assignment);
  const TaskEntry& task_entry = find_task(entry.task);
  const auto task = task_entry.build(resolve(task_entry.options, &table, "task"));
  const ExampleSource source(*task, 1, Split::train);
  Example example(task->shape());

  std::uint64_t made = 0;
  double elapsed = 0;
  const double start = processor_seconds();
  do {
    for (int i = 0; i < 256; ++i) source.write(made++, example.view());
    elapsed = processor_seconds() - start;
  } while (elapsed < seconds);

  const double examples = static_cast<double>(made) / elapsed;
  const double tokens = examples * static_cast<double>(task->shape().length);
  const double rate = entry.examples_required > 0 ? examples / entry.examples_required : tokens / kTokensRequired;
  std::string name = entry.task;
  for (const std::string& assignment : entry.overrides) name += " " + assignment;
  const std::string verdict = rate >= 1 ? "ok" : entry.reason.empty() ? "SLOW" : entry.reason;
  fmt::print("{:<58} {:>12.0f} examples/s {:>8.1f} M tokens/s   {:>6.2f}x required  {}\n", name, examples, tokens / 1e6,
             rate, verdict);
  return verdict != "SLOW";
}

}  // namespace

int main(int argc, char** argv) {
  const double seconds = argc > 1 ? std::atof(argv[1]) : 0.5;
  const std::string part = argc > 2 ? argv[2] : "";
  bool all = true;
  for (const Case& entry : cases())
    if (entry.task.find(part) != std::string::npos) all = measure(entry, seconds) && all;
  return all ? 0 : 1;
}
