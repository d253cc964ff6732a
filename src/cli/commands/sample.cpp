#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "cli/command.h"
#include "cli/terminal/terminal.h"
#include "core/error.h"
#include "tasks/show.h"

namespace mneme::cli {
namespace {

struct SampleOptions {
  std::string task;
  std::vector<std::string> assignments;
  std::int64_t count = 3;
  std::int64_t seed = 42;
  std::string split = "train";
};

Options task_options(const tasks::TaskEntry& entry, const std::vector<std::string>& assignments) {
  ConfigValue table{ConfigTable{}, "sample"};
  for (const std::string& assignment : assignments) apply_override(table, assignment);
  return resolve(entry.options, &table, "task");
}

int sample(const SampleOptions& given, const Context& context) {
  if (given.count < 1) throw Error(ErrorKind::usage, "--n", fmt::format("got {}, expected 1 or more", given.count));
  if (given.seed < 0) throw Error(ErrorKind::usage, "--seed", fmt::format("got {}, expected 0 or more", given.seed));
  const tasks::TaskEntry& entry = tasks::find_task(given.task, "sample");
  const Options options = task_options(entry, given.assignments);
  const tasks::Split split = tasks::parse_split(given.split);
  const auto seed = static_cast<std::uint64_t>(given.seed);
  if (context.json) {
    print_json(tasks::samples_json(entry, options, seed, split, given.count));
  } else {
    const Terminal terminal = terminal_of(stdout);
    fmt::print("{}",
               tasks::show_samples(entry, options, seed, split, given.count,
                                   {.colour = terminal.color, .width = static_cast<std::size_t>(terminal.columns)}));
  }
  return 0;
}

}  // namespace

void add_sample(CLI::App& app, Context& context) {
  auto options = std::make_shared<SampleOptions>();
  app.add_option("task", options->task, "name of the task")->required()->type_name("TASK");
  app.add_option("options", options->assignments, "options of the task")->type_name("KEY=VALUE ...");
  app.add_option("--n", options->count, "number of examples")->capture_default_str();
  app.add_option("--seed", options->seed, "data seed")->capture_default_str();
  app.add_option("--split", options->split, "train, validation or test")->capture_default_str();
  app.callback([options, &context] { context.action = [options, &context] { return sample(*options, context); }; });
  add_examples(app, "  mneme sample mqar length=16 pairs=2 vocab=32 --n 2\n  mneme sample mqar --json --split test");
}

}  // namespace mneme::cli
