#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "cli/command.h"
#include "cli/terminal/terminal.h"
#include "cli/train_runs.h"
#include "core/text.h"

namespace mneme::cli {
namespace {

struct TrainOptions {
  std::vector<std::string> arguments;
  bool print_config = false;
  TrainLimits limits;
};

config::RunConfig read_run(const std::vector<std::string>& arguments) {
  const FileAndOverrides input = sort_arguments(arguments);
  ConfigValue root{ConfigTable{}, ""};
  if (!input.file.empty()) root = load_toml(input.file);
  for (const std::string& assignment : input.overrides) apply_override(root, assignment);
  return config::resolve_run(root);
}

int print_config(const config::RunConfig& run, const Context& context) {
  if (context.json)
    print_json({{"id", run.id}, {"config", run.json}, {"parameters", run.parameters()}, {"warnings", run.warnings}});
  else
    fmt::print("id {}\n{} parameters\n{}\n", run.id, grouped(run.parameters()), run.json.dump(2));
  return 0;
}

void tell(const config::RunConfig& run, const run::RunResult& result, const store::Lab& lab) {
  const Terminal terminal = terminal_of(stdout);
  if (result.elsewhere)
    fmt::print("run {} has already finished; nothing to do (for another run, change the seed: train.seed={})\n", run.id,
               run.train.integer("seed") + 1);
  fmt::print("run {}: {}\n", paint(run.id, Color::bold, terminal), harmless(report::describe_result(result)));
  if (result.state == store::RunState::interrupted) fmt::print("run the same command again to resume\n");
  fmt::print("  files  {}\n  curve  mneme show {}\n", lab.run(run.id).path().string(), run.id);
}

int train(const TrainOptions& options, const Context& context) {
  const std::vector<config::RunConfig> runs{read_run(options.arguments)};
  tell_warnings(runs);
  if (options.print_config) return print_config(runs[0], context);
  const run::ExecutionResult result = train_runs(runs, context, 1, report::RunLabels(), options.limits);
  if (!result.stopped.empty()) print_note("stopped: " + result.stopped);
  if (context.json)
    print_json(result_json(runs[0], result.runs[0], context.lab()));
  else
    tell(runs[0], result.runs[0], context.lab());
  return exit_code_of(result);
}

}  // namespace

void add_train(CLI::App& app, Context& context) {
  auto options = std::make_shared<TrainOptions>();
  app.add_option("input", options->arguments, "a TOML file, and overrides a.b=value")
      ->type_name("[FILE] [a.b=value ...]");
  app.add_flag("--print-config", options->print_config, "print the complete configuration and its id without training");
  options->limits.code.add(app);
  app.callback([options, &context] { context.action = [options, &context] { return train(*options, context); }; });
  add_examples(app,
               "  mneme train task.name=mqar task.length=64 model.mixer=attention train.lr=1e-3\n"
               "  mneme train run.toml train.seed=7\n"
               "  mneme train --print-config model.attention.num_heads=4");
}

}  // namespace mneme::cli
