// How fast examples are made, on one thread, per second of processor time.
//
// Each line has examples and tokens a second and `of_required`, the rate over the required one: below 1
// is too slow, unless the label says why that is accepted.
#include <benchmark/benchmark.h>

#include <string>
#include <vector>

#include "core/config.h"
#include "tasks/task.h"

namespace mneme::tasks {
namespace {

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
      {"state_tracking", {"group=A7", "length=512"}, 0, "each step waits for a row of a 13 MB table, beyond the cache"},
      {"counting", {"length=1000", "isi=50", "iti=[100, 200]"}},
  };
  for (const TaskEntry& entry : task_list())
    if (entry.name != "mqar") list.push_back({entry.name, {}});
  return list;
}

void generate(benchmark::State& state, const Case& entry) {
  ConfigValue table{ConfigTable{}, ""};
  for (const std::string& assignment : entry.overrides) apply_override(table, assignment);
  const TaskEntry& task_entry = find_task(entry.task);
  const auto task = task_entry.build(resolve(task_entry.options, &table, "task"));
  const ExampleSource source(*task, 1, Split::train);
  Example example(task->shape());

  std::uint64_t made = 0;
  for (auto _ : state) {
    source.write(made++, example.view());
    benchmark::DoNotOptimize(example.labels.data());
    benchmark::ClobberMemory();
  }
  const auto examples = static_cast<double>(made), tokens = examples * static_cast<double>(task->shape().length);
  const double required = entry.examples_required > 0 ? examples / entry.examples_required : tokens / kTokensRequired;
  using benchmark::Counter;
  state.counters["examples/s"] = Counter(examples, Counter::kIsRate);
  state.counters["tokens/s"] = Counter(tokens, Counter::kIsRate);
  state.counters["of_required"] = Counter(required, Counter::kIsRate);
  state.SetLabel(entry.reason);
}

const bool registered = [] {
  for (const Case& entry : cases()) {
    std::string name = "task/" + entry.task;
    for (const std::string& assignment : entry.overrides) name += "/" + assignment;
    benchmark::RegisterBenchmark(name.c_str(), [entry](benchmark::State& state) { generate(state, entry); });
  }
  return true;
}();

}  // namespace
}  // namespace mneme::tasks
