#include "cli/commands/window_runs.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/commands/window_ledger.h"
#include "cli/terminal/terminal.h"
#include "cli/train_runs.h"
#include "core/error.h"
#include "core/text.h"
#include "report/pages/run_label.h"
#include "study/grid.h"

namespace mneme::cli {
namespace {

// What early stopping adds to a configuration that says nothing about it. It is part of the configuration, so the runs
// are those of a sweep with the same settings.
constexpr double kStopAt = 0.99, kGiveUpAfter = 0.6;

void set_if_missing(ConfigValue& root, std::string_view path, const std::string& value) {
  const ConfigValue* place = &root;
  for (const std::string& part : split(path, '.')) place = place && place->is_table() ? place->find(part) : nullptr;
  if (!place) apply_override(root, fmt::format("{}={}", path, value));
}

ConfigValue grid_of(const WindowPlan& plan) {
  ConfigValue root = plan.root;
  set_if_missing(root, "train.stop_at", fmt::format("{}", kStopAt));
  set_if_missing(root, "train.give_up_after", fmt::format("{}", kGiveUpAfter));
  set_if_missing(root, "train.give_up_below", fmt::format("{}", plan.rule.threshold / 2));
  apply_override(root, fmt::format("train.lr=\"logspace({}, {}, {})\"", plan.low, plan.high, plan.rates));
  std::vector<std::string> seeds;
  for (const std::int64_t seed : plan.seeds) seeds.push_back(std::to_string(seed));
  apply_override(root, fmt::format("train.seed=[{}]", join(seeds, ", ")));
  return root;
}

// The runs as cells: the grid's axes are train.lr and train.seed, the seed changes fastest.
class Cells {
 public:
  Cells(const WindowPlan& plan, const study::Grid& grid) : seeds_(plan.seeds.size()), runs_(grid.runs()) {
    if (runs_.size() != static_cast<std::size_t>(plan.rates) * seeds_)
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

std::vector<study::Cell> missing_seeds_of_best(const study::CellResults& known, std::size_t seeds) {
  std::map<std::size_t, std::pair<double, int>> rates;
  for (const auto& [cell, accuracy] : known) {
    rates[cell.first].first += accuracy;
    ++rates[cell.first].second;
  }
  const auto mean = [](const auto& item) { return item.second.first / item.second.second; };
  const auto best =
      std::max_element(rates.begin(), rates.end(), [&](const auto& a, const auto& b) { return mean(a) < mean(b); });
  std::vector<study::Cell> missing;
  for (std::size_t seed = 0; best != rates.end() && seed < seeds; ++seed)
    if (!known.contains({best->first, seed})) missing.emplace_back(best->first, seed);
  return missing;
}

}  // namespace

void check_plan(const WindowPlan& plan) {
  if (!(plan.low > 0) || !(plan.high > plan.low))
    throw Error(ErrorKind::usage, "--low, --high",
                fmt::format("got {} and {}, expected two rates in ascending order", plan.low, plan.high));
  if (plan.rates < 4 || plan.rates > 10000)
    throw Error(ErrorKind::usage, "--rates", fmt::format("got {}, expected from 4 to 10,000", plan.rates));
  if (plan.budget < 0) throw Error(ErrorKind::usage, "--budget", "got a negative number, expected 0 or more");
  for (const auto& [name, value] :
       {std::pair{"--threshold", plan.rule.threshold}, std::pair{"--share", plan.rule.share}})
    if (!(value > 0) || value > 1)
      throw Error(ErrorKind::usage, name, fmt::format("got {}, expected a number above 0 and at most 1", value));
}

WindowOutcome search_window(const WindowPlan& plan, const Context& context, int jobs) {
  const study::Grid grid(grid_of(plan));
  const Cells cells(plan, grid);
  tell_warnings(cells.all());
  const std::size_t rates = static_cast<std::size_t>(plan.rates), seeds = plan.seeds.size();
  const std::size_t budget = plan.budget > 0 ? static_cast<std::size_t>(plan.budget)
                             : plan.full     ? rates * seeds
                                             : rates * seeds / 2;
  const study::WindowSearch search(rates, seeds, plan.rule, budget);
  study::CellResults known;
  // What a sweep or an earlier search has left in the lab costs nothing.
  for (std::size_t rate = 0; rate < rates; ++rate)
    for (std::size_t seed = 0; seed < seeds; ++seed)
      if (const auto accuracy = result_on_disk(context.lab().run(cells.run({rate, seed}).id)))
        known[{rate, seed}] = *accuracy;
  WindowLedger ledger(context.lab(), cells.all(), plan.rule);
  if (!known.empty())
    print_note(fmt::format("{} of the grid {} in the lab already", counted(known.size(), "run"),
                           known.size() == 1 ? "is" : "are"));
  const auto next = [&]() -> std::vector<study::Cell> {
    std::vector<study::Cell> wanted = search.next(known, ledger.spent());
    if (wanted.empty() && plan.best_has_all) wanted = missing_seeds_of_best(known, seeds);
    return wanted;
  };
  std::vector<study::Cell> wanted;
  if (plan.full)
    for (std::size_t rate = 0; rate < rates; ++rate)
      for (std::size_t seed = 0; seed < seeds; ++seed) wanted.emplace_back(rate, seed);
  else
    wanted = next();
  WindowOutcome outcome;
  outcome.grid = cells.all();
  while (!wanted.empty()) {
    std::vector<config::RunConfig> runs;
    for (const study::Cell& cell : wanted) runs.push_back(cells.run(cell));
    if (!context.json)
      fmt::print(stderr, "{} at rates from {:g} to {:g}\n", counted(runs.size(), "run"),
                 cells.rate(wanted.front().first), cells.rate(wanted.back().first));
    ledger.pay_for(runs);
    const run::ExecutionResult result = train_runs(runs, context, jobs, report::RunLabels(grid.axes()));
    if (outcome.exit_code = exit_code_of(result); outcome.exit_code != 0) {
      print_note("run the same command again to resume");
      return outcome;
    }
    for (std::size_t i = 0; i < wanted.size(); ++i) known[wanted[i]] = accuracy_of(result.runs[i]);
    wanted = plan.full ? std::vector<study::Cell>{} : next();
  }
  WindowReport& report = outcome.report;
  report.mixer = cells.all().front().model.text("mixer");
  report.rule = plan.rule;
  report.grid_runs = rates * seeds;
  report.found = search.window(known);
  report.uncertainty = study::resample_seeds(search.grid(known), plan.rule);
  for (std::size_t rate = 0; rate < rates; ++rate) report.rates.push_back(cells.rate(rate));
  for (const auto& [cell, accuracy] : known) {
    const auto summary = context.lab().run(cells.run(cell).id).summary();
    report.runs.push_back(
        {cell.first, plan.seeds[cell.second], cells.run(cell).id, accuracy, summary.value_or(Json::object())});
  }
  return outcome;
}

}  // namespace mneme::cli
