#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>

#include "cli/command.h"
#include "cli/commands/window_report.h"
#include "cli/commands/window_runs.h"
#include "cli/study_input.h"
#include "cli/train_runs.h"
#include "core/error.h"
#include "core/text.h"
#include "report/pages/study_report.h"
#include "study/study.h"

namespace mneme::cli {
namespace {

struct WindowOptions {
  std::vector<std::string> arguments;
  std::string mixer;
  std::string seed_list = "42,123,777";
  WindowPlan plan;
  JobsOption jobs;
};

ConfigValue configuration(const WindowOptions& options) {
  const FileAndOverrides input = sort_arguments(options.arguments);
  ConfigValue root = input.file.empty() ? ConfigValue{ConfigTable{}, "command line"} : load_toml(input.file);
  for (const std::string& assignment : input.overrides) apply_override(root, assignment);
  if (!options.mixer.empty()) apply_override(root, "model.mixer=" + options.mixer);
  return root;
}

std::vector<std::int64_t> parse_seeds(const std::string& text) {
  std::vector<std::int64_t> seeds;
  for (const std::string& part : split(text, ',')) {
    std::int64_t seed = 0;
    const auto [end, code] = std::from_chars(part.data(), part.data() + part.size(), seed);
    if (code != std::errc() || end != part.data() + part.size() || seed < 0)
      throw Error(ErrorKind::usage, "--seeds", fmt::format("got '{}', expected numbers like 42,123,777", text));
    seeds.push_back(seed);
  }
  return seeds;
}

// What was asked besides the mixer: searches that differ in it have reports of their own.
std::string name_of(const WindowOptions& options, const std::string& mixer) {
  std::vector<std::string> words;
  for (const std::string& argument : options.arguments)
    if (!argument.starts_with("model.mixer=")) words.push_back(argument);
  const WindowOptions usual;
  const auto add = [&](const char* name, const auto& value, const auto& default_value) {
    if (value != default_value) words.push_back(fmt::format("{}={}", name, value));
  };
  add("low", options.plan.low, usual.plan.low);
  add("high", options.plan.high, usual.plan.high);
  add("rates", options.plan.rates, usual.plan.rates);
  add("seeds", options.seed_list, usual.seed_list);
  add("threshold", options.plan.rule.threshold, usual.plan.rule.threshold);
  add("share", options.plan.rule.share, usual.plan.rule.share);
  add("budget", options.plan.budget, usual.plan.budget);
  if (options.plan.full) words.emplace_back("full");
  return study::variant_name("window-" + mixer, words);
}

int window(WindowOptions options, const Context& context) {
  options.plan.seeds = parse_seeds(options.seed_list);
  check_plan(options.plan);
  const int jobs = options.jobs.count();
  options.plan.root = configuration(options);
  const WindowOutcome outcome = search_window(options.plan, context, jobs);
  if (outcome.exit_code != 0) return outcome.exit_code;
  print_window(outcome.report, context.json);
  store::Index index = open_index(context.lab());
  std::vector<report::ResultRow> rows;
  for (const WindowRun& run : outcome.report.runs) rows.push_back(report::row_of(find_record(index, run.id)));
  write_window(outcome.report, name_of(options, outcome.report.mixer), rows, outcome.grid.front().chance, context.lab(),
               context.json);
  return 0;
}

}  // namespace

void add_window(CLI::App& app, Context& context) {
  auto options = std::make_shared<WindowOptions>();
  app.add_option("input", options->arguments, "a TOML file of a run, and overrides a.b=value")
      ->type_name("[FILE] [a.b=value ...]");
  app.add_option("--mixer", options->mixer, "short for model.mixer=NAME")->type_name("NAME");
  app.add_option("--low", options->plan.low, "lowest learning rate")->capture_default_str();
  app.add_option("--high", options->plan.high, "highest learning rate")->capture_default_str();
  app.add_option("--rates", options->plan.rates, "number of rates in the full grid, evenly spaced on a log scale")
      ->capture_default_str();
  app.add_option("--seeds", options->seed_list, "seeds for every rate, separated by commas")->capture_default_str();
  app.add_option("--threshold", options->plan.rule.threshold, "validation accuracy that counts as solved")
      ->capture_default_str();
  app.add_option("--share", options->plan.rule.share, "fraction of the seeds that must solve it")
      ->capture_default_str();
  app.add_option("--budget", options->plan.budget, "maximum number of runs (default: half of the full grid)")
      ->type_name("N");
  app.add_flag("--full", options->plan.full, "run the full grid instead, for comparison");
  options->jobs.add(app);
  app.callback([options, &context] { context.action = [options, &context] { return window(*options, context); }; });
  add_examples(app,
               "  mneme window --mixer attention task.length=32 task.vocab=64 train.steps=1200\n"
               "  mneme window run.toml --low 1e-5 --high 1 --rates 21 --seeds 1,2,3,4,5");
}

}  // namespace mneme::cli
