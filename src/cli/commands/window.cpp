#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>

#include "cli/command.h"
#include "cli/commands/window_ledger.h"
#include "cli/commands/window_report.h"
#include "cli/study_input.h"
#include "cli/train_runs.h"
#include "core/error.h"
#include "core/text.h"
#include "report/pages/run_label.h"
#include "report/pages/study_report.h"
#include "study/grid.h"
#include "study/window_search.h"

namespace mneme::cli {
namespace {

struct WindowOptions {
  std::vector<std::string> arguments;
  std::string mixer;
  double low = 1e-4, high = 1e-1;
  std::int64_t rates = 13;
  std::string seed_list = "42,123,777";
  std::vector<std::int64_t> seeds;
  study::WindowRule rule;
  std::int64_t budget = 0;
  JobsOption jobs;
  bool full = false;
};

// What early stopping adds to a configuration that says nothing about it. It is part of the configuration, so the runs
// are those of a sweep with the same settings.
constexpr double kStopAt = 0.99, kGiveUpAfter = 0.6;

void set_if_missing(ConfigValue& root, std::string_view path, const std::string& value) {
  const ConfigValue* place = &root;
  for (const std::string& part : split(path, '.')) place = place && place->is_table() ? place->find(part) : nullptr;
  if (!place) apply_override(root, fmt::format("{}={}", path, value));
}

ConfigValue configuration(const WindowOptions& options) {
  const FileAndOverrides input = sort_arguments(options.arguments);
  ConfigValue root = input.file.empty() ? ConfigValue{ConfigTable{}, "command line"} : load_toml(input.file);
  for (const std::string& assignment : input.overrides) apply_override(root, assignment);
  if (!options.mixer.empty()) apply_override(root, "model.mixer=" + options.mixer);
  set_if_missing(root, "train.stop_at", fmt::format("{}", kStopAt));
  set_if_missing(root, "train.give_up_after", fmt::format("{}", kGiveUpAfter));
  set_if_missing(root, "train.give_up_below", fmt::format("{}", options.rule.threshold / 2));
  apply_override(root, fmt::format("train.lr=\"logspace({}, {}, {})\"", options.low, options.high, options.rates));
  std::vector<std::string> seeds;
  for (const std::int64_t seed : options.seeds) seeds.push_back(std::to_string(seed));
  apply_override(root, fmt::format("train.seed=[{}]", join(seeds, ", ")));
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

void check_options(const WindowOptions& options) {
  if (!(options.low > 0) || !(options.high > options.low))
    throw Error(ErrorKind::usage, "--low, --high",
                fmt::format("got {} and {}, expected two rates in ascending order", options.low, options.high));
  if (options.rates < 4 || options.rates > 10000)
    throw Error(ErrorKind::usage, "--rates", fmt::format("got {}, expected from 4 to 10,000", options.rates));
  if (options.budget < 0) throw Error(ErrorKind::usage, "--budget", "got a negative number, expected 0 or more");
  for (const auto& [name, value] :
       {std::pair{"--threshold", options.rule.threshold}, std::pair{"--share", options.rule.share}})
    if (!(value > 0) || value > 1)
      throw Error(ErrorKind::usage, name, fmt::format("got {}, expected a number above 0 and at most 1", value));
}

// The runs as cells: the grid's axes are train.lr and train.seed, the seed changes fastest.
class Cells {
 public:
  Cells(const WindowOptions& options, const study::Grid& grid) : seeds_(options.seeds.size()), runs_(grid.runs()) {
    if (runs_.size() != static_cast<std::size_t>(options.rates) * seeds_)
      throw Error(ErrorKind::usage, "window",
                  "got axes other than the learning rate and the seed, expected single values");
  }
  const config::RunConfig& run(const study::Cell& cell) const { return runs_[cell.first * seeds_ + cell.second]; }
  double rate(std::size_t rate) const { return runs_[rate * seeds_].train.real("lr"); }
  const std::vector<config::RunConfig>& all() const { return runs_; }

 private:
  std::size_t seeds_;
  std::vector<config::RunConfig> runs_;
};

double accuracy_of(const run::RunResult& result) {
  const Json::json_pointer at("/values/validation/accuracy");
  return result.summary.contains(at) && result.summary.at(at).is_number() ? result.summary.at(at).get<double>() : 0.0;
}

int window(WindowOptions options, const Context& context) {
  options.seeds = parse_seeds(options.seed_list);
  check_options(options);
  const int jobs = options.jobs.count();
  const study::Grid grid(configuration(options));
  const Cells cells(options, grid);
  tell_warnings(cells.all());
  const std::size_t rates = static_cast<std::size_t>(options.rates), seeds = options.seeds.size();
  const std::size_t budget = options.budget > 0 ? static_cast<std::size_t>(options.budget)
                             : options.full     ? rates * seeds
                                                : rates * seeds / 2;
  const study::WindowSearch search(rates, seeds, options.rule, budget);
  study::CellResults known;
  // What a sweep or an earlier search has left in the lab costs nothing.
  for (std::size_t rate = 0; rate < rates; ++rate)
    for (std::size_t seed = 0; seed < seeds; ++seed)
      if (const auto accuracy = result_on_disk(context.lab().run(cells.run({rate, seed}).id)))
        known[{rate, seed}] = *accuracy;
  WindowLedger ledger(context.lab(), cells.all(), options.rule);
  const std::size_t found_before = known.size();
  if (found_before > 0) print_note(fmt::format("{} runs of the grid are in the lab already", found_before));
  std::vector<study::Cell> wanted;
  if (options.full)
    for (std::size_t rate = 0; rate < rates; ++rate)
      for (std::size_t seed = 0; seed < seeds; ++seed) wanted.emplace_back(rate, seed);
  else
    wanted = search.next(known, ledger.spent());
  while (!wanted.empty()) {
    std::vector<config::RunConfig> runs;
    for (const study::Cell& cell : wanted) runs.push_back(cells.run(cell));
    if (!context.json)
      fmt::print(stderr, "{} runs at rates from {:g} to {:g}\n", runs.size(), cells.rate(wanted.front().first),
                 cells.rate(wanted.back().first));
    ledger.pay_for(runs);
    const run::ExecutionResult result = train_runs(runs, context, jobs, report::RunLabels(grid.axes()));
    if (const int code = exit_code_of(result); code != 0) {
      print_note("run the same command again to resume");
      return code;
    }
    for (std::size_t i = 0; i < wanted.size(); ++i) known[wanted[i]] = accuracy_of(result.runs[i]);
    wanted = options.full ? std::vector<study::Cell>{} : search.next(known, ledger.spent());
  }

  WindowReport report;
  report.mixer = cells.all().front().model.text("mixer");
  report.rule = options.rule;
  report.grid_runs = rates * seeds;
  report.found = search.window(known);
  report.uncertainty = study::resample_seeds(search.grid(known), options.rule);
  for (std::size_t rate = 0; rate < rates; ++rate) report.rates.push_back(cells.rate(rate));
  for (const auto& [cell, accuracy] : known) {
    const auto summary = context.lab().run(cells.run(cell).id).summary();
    report.runs.push_back(
        {cell.first, options.seeds[cell.second], cells.run(cell).id, accuracy, summary.value_or(Json::object())});
  }
  print_window(report, context.json);
  store::Index index = open_index(context.lab());
  std::vector<report::ResultRow> rows;
  for (const WindowRun& run : report.runs) rows.push_back(report::row_of(*index.find(run.id)));
  write_window(report, rows, cells.all().front().chance, context.lab(), context.json);
  return 0;
}

}  // namespace

void add_window(CLI::App& app, Context& context) {
  auto options = std::make_shared<WindowOptions>();
  app.add_option("input", options->arguments, "a TOML file of a run, and overrides a.b=value")
      ->type_name("[FILE] [a.b=value ...]");
  app.add_option("--mixer", options->mixer, "short for model.mixer=NAME")->type_name("NAME");
  app.add_option("--low", options->low, "lowest learning rate")->capture_default_str();
  app.add_option("--high", options->high, "highest learning rate")->capture_default_str();
  app.add_option("--rates", options->rates, "number of rates in the full grid, evenly spaced on a log scale")
      ->capture_default_str();
  app.add_option("--seeds", options->seed_list, "seeds for every rate, separated by commas")->capture_default_str();
  app.add_option("--threshold", options->rule.threshold, "validation accuracy that counts as solved")
      ->capture_default_str();
  app.add_option("--share", options->rule.share, "fraction of the seeds that must solve it")->capture_default_str();
  app.add_option("--budget", options->budget, "maximum number of runs (default: half of the full grid)")
      ->type_name("N");
  app.add_flag("--full", options->full, "run the full grid instead, for comparison");
  options->jobs.add(app);
  app.callback([options, &context] { context.action = [options, &context] { return window(*options, context); }; });
  add_examples(app,
               "  mneme window --mixer attention task.length=32 task.vocab=64 train.steps=1200\n"
               "  mneme window run.toml --low 1e-5 --high 1 --rates 21 --seeds 1,2,3,4,5");
}

}  // namespace mneme::cli
