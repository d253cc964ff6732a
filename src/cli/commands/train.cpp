#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "cli/command.h"
#include "cli/terminal/terminal.h"
#include "cli/train_runs.h"
#include "core/error.h"
#include "core/text.h"

namespace mneme::cli {
namespace {

struct TrainOptions {
  std::vector<std::string> arguments;
  bool print_config = false;
  TrainLimits limits;
};

// What --print-config and --json print, config.json of a run, and TOML are all configurations.
ConfigValue load_run(const Path& file) {
  std::string text = read_file(file);
  while (text.starts_with("#")) text.erase(0, std::min(text.find('\n'), text.size() - 1) + 1);
  const auto start = text.find_first_not_of(" \t\r\n");
  if (start == text.npos || text[start] != '{') return load_toml(file);
  const Json json = parse_json(text, file.string());
  return config_from_json(json.contains("config") ? json["config"] : json, file.string());
}

// A file, a run's directory, or the first digits of a run in the lab.
ConfigValue read_source(const std::string& source, const Context& context) {
  std::error_code none;
  if (std::filesystem::is_directory(source, none)) return load_run(Path(source) / "config.json");
  const bool path = source.find_first_of("/.") != source.npos;
  if (path || std::filesystem::exists(source, none)) return load_run(source);
  const bool digits = !source.empty() && source.find_first_not_of("0123456789abcdef") == source.npos;
  if (!digits)
    throw Error(ErrorKind::data, "train",
                fmt::format("got '{}', expected a TOML or JSON file, a run's directory or the first digits of its id; "
                            "settings are written a.b=value",
                            source));
  const store::Lab lab = context.lab();
  lab.require();
  store::Index index = open_index(lab);
  return load_run(lab.run(find_run_id(index, source)).path() / "config.json");
}

// Lists are axes of a grid, which is what a sweep is for; some options are lists themselves.
void explain_lists(const Error& error, const std::vector<std::string>& overrides) {
  for (const std::string& assignment : overrides)
    if (assignment.find("=[") != assignment.npos && std::string(error.what()).find(assignment) != std::string::npos)
      throw Error(error.kind(), "", fmt::format("{}; several values make several runs: mneme sweep", error.what()));
}

config::RunConfig read_run(const std::vector<std::string>& arguments, const Context& context) {
  const FileAndOverrides input = sort_arguments(arguments);
  ConfigValue root{ConfigTable{}, ""};
  if (!input.file.empty()) root = read_source(input.file, context);
  for (const std::string& assignment : input.overrides) apply_override(root, assignment);
  try {
    return config::resolve_run(root);
  } catch (const Error& error) {
    explain_lists(error, input.overrides);
    throw;
  }
}

int print_config(const config::RunConfig& run, const Context& context) {
  if (context.json)
    print_json({{"id", run.id}, {"config", run.json()}, {"parameters", run.parameters()}, {"warnings", run.warnings}});
  else
    fmt::print("# id {}\n# {} parameters\n{}\n", run.id, grouped(run.parameters()), run.json().dump(2));
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
  const std::vector<config::RunConfig> runs{read_run(options.arguments, context)};
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
  app.add_option("input", options->arguments,
                 "a TOML or JSON file, a run's directory or id (or its first digits), and overrides a.b=value")
      ->type_name("[FILE | RUN] [a.b=value ...]");
  app.add_flag("--print-config", options->print_config, "print the complete configuration and its id without training");
  options->limits.code.add(app);
  app.callback([options, &context] { context.action = [options, &context] { return train(*options, context); }; });
  add_examples(app,
               "  mneme train task.name=mqar task.length=64 model.mixer=attention train.lr=1e-3\n"
               "  mneme train run.toml train.seed=7\n"
               "  mneme train --print-config model.attention.num_heads=4");
}

}  // namespace mneme::cli
