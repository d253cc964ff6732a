#include "study/plan.h"
#include "cli/terminal/fit.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "cli/command.h"
#include "cli/study_input.h"
#include "cli/train_runs.h"
#include "core/error.h"
#include "core/shortage.h"
#include "core/text.h"
#include "report/pages/budgets.h"
#include "report/pages/table.h"
#include "run/calibration.h"

namespace mneme::cli {
namespace {

struct PlanOptions {
  StudyInput input;
  JobsOption jobs;
  std::int64_t nodes = 1;
  bool no_measure = false;
  bool list = false;
};

// What the lab has of the study; a lab that is not there yet has nothing.
std::unordered_map<std::string, std::pair<store::RunState, std::int64_t>> known_states(const store::Lab& lab) {
  std::error_code ignored;
  if (!std::filesystem::is_directory(lab.runs(), ignored)) return {};
  return open_index(lab).states();
}

struct TimeEstimate {
  std::vector<double> seconds;  // of each run that is missing
  Json measured = Json::array();
  std::string why_not;  // what kept it from being measured
};

constexpr double kGibibyte = 1073741824;

// What the smallest step of training holds: weights, gradients and two moments of each, four bytes a number.
double least_bytes(const config::RunConfig& run) { return 16 * static_cast<double>(run.parameters()); }

// A run that cannot fit is not tried: it would take the memory of everything else that runs here.
std::string why_too_large(std::span<const config::RunConfig* const> runs) {
  const double there = run::available_memory();
  for (const config::RunConfig* run : runs)
    if (there > 0 && least_bytes(*run) > there)
      return fmt::format(
          "{} parameters with their gradients and moments need {:.3g} GiB of memory, {:.3g} GiB are free",
          grouped(run->parameters()), least_bytes(*run) / kGibibyte, there / kGibibyte);
  return "";
}

TimeEstimate estimate(const study::Study& study, const study::StudyPlan& plan, const store::Lab& lab, bool measure) {
  const auto chosen = study::representatives(study.runs, plan.to_run);
  std::vector<const config::RunConfig*> runs;
  for (const auto& [kind, run] : chosen) runs.push_back(&study.runs[run]);
  TimeEstimate result;
  std::map<std::string, run::StepCost> steps;
  if (measure) result.why_not = why_too_large(runs);
  try {
    steps = run::calibrated_steps(runs, lab, measure && result.why_not.empty());
  } catch (const Error& error) {
    if (shortage_of(error) != Shortage::memory) throw;
    result.why_not = error.what();
  }
  std::map<std::string, double> rates;  // useful operations per second, by kind
  study::ForwardWork forward;
  for (const auto& [kind, number] : chosen) {
    const config::RunConfig& run = study.runs[number];
    const auto found = steps.find(run.id);
    if (found == steps.end()) return result;
    const run::StepCost& cost = found->second;
    result.measured.push_back({{"kind", kind}, {"step_seconds", cost.seconds}, {"bytes", cost.bytes}});
    rates[kind] = study::step_work(run, forward) / cost.seconds;
  }
  const Json* last_model = nullptr;
  const tasks::TaskEntry* last_task = nullptr;
  double rate = 0;
  for (std::size_t i = 0; i < plan.to_run.size(); ++i) {
    const config::RunConfig& run = study.runs[plan.to_run[i]];
    if (last_model != &run.model.values() || last_task != run.task_entry) rate = rates.at(study::kind_of(run));
    last_model = &run.model.values();
    last_task = run.task_entry;
    result.seconds.push_back(study::estimated_seconds(run, plan.share[i], rate, forward));
  }
  return result;
}

Json amount_json(const study::WorkAmount& amount) {
  return {{"runs", amount.runs}, {"tokens", amount.tokens}, {"useful_flops", amount.flops}};
}

std::string values_text(const study::Axis& axis) {
  std::vector<std::string> shown;
  constexpr std::size_t kShown = 6;
  for (const ConfigValue& value : axis.values) {
    if (shown.size() == kShown) {
      shown.push_back("...");
      break;
    }
    shown.push_back(value.shown());
  }
  return join(shown, " ");
}

void print(const study::Study& study, const study::StudyPlan& plan, const TimeEstimate& times, int jobs,
           std::int64_t nodes, const std::vector<std::string>& budgets) {
  fmt::print("{}{}\n\n", study.title, study.scale.empty() ? "" : fmt::format(" (scale {})", study.scale));
  report::Table table{.columns = {{"axis"}, {"values", report::Align::right}, {""}}, .rows = {}};
  for (const study::Axis& axis : study.axes)
    table.rows.push_back({axis.path, std::to_string(axis.values.size()), values_text(axis)});
  if (!table.rows.empty()) fmt::print("{}\n", fit(table));
  std::vector<std::string> states;
  for (const auto& [state, count] : plan.states)
    states.push_back(fmt::format("{} {}", grouped(count), store::run_state_name(state)));
  fmt::print("runs     {} ({}); {} to run\n", grouped(plan.total.runs), join(states, ", "), grouped(plan.missing.runs));
  fmt::print("tokens   {:.3g} in total, {:.3g} to go\n", plan.total.tokens, plan.missing.tokens);
  fmt::print("FLOPs    {:.3g} useful in total, {:.3g} to go\n", plan.total.flops, plan.missing.flops);
  for (const std::string& line : budgets) fmt::print("budget   {}\n", fit(line, 9));
  if (times.seconds.empty()) {
    if (plan.missing.runs > 0)
      fmt::print("time     {}\n",
                 fit(times.why_not.empty() ? "not measured (leave out --no-measure to measure a step of each kind)"
                                           : "not measured: " + times.why_not,
                     9));
    return;
  }
  for (const Json& measured : times.measured)
    fmt::print("step     {:.2f} ms and {:.0f} MiB measured here: {}\n", 1000 * measured["step_seconds"].get<double>(),
               measured["bytes"].get<double>() / 1048576, measured["kind"].get<std::string>());
  fmt::print("time     at most {} on this machine with {} worker{}\n", duration(study::makespan(times.seconds, jobs)),
             jobs, jobs == 1 ? "" : "s");
  if (nodes > 1)
    fmt::print("         at most {} on {} nodes like it\n", duration(study::makespan(times.seconds, jobs * nodes)),
               nodes);
}

// Workers train side by side; the largest runs may meet.
void warn_of_memory(const TimeEstimate& times, int jobs) {
  if (!times.why_not.empty()) return print_warning("a step could not be measured: " + times.why_not);
  double most = 0;
  for (const Json& measured : times.measured) most = std::max(most, measured["bytes"].get<double>());
  const double needed = most * jobs, there = run::available_memory();
  if (there > 0 && needed > there)
    print_warning(fmt::format("{} worker{} may need {:.1f} GiB of memory, {:.1f} GiB are free; --jobs {} fits", jobs,
                              jobs == 1 ? "" : "s", needed / kGibibyte, there / kGibibyte,
                              std::max(1, static_cast<int>(there / most))));
}

int plan(const PlanOptions& options, const Context& context) {
  const int jobs = options.jobs.count();
  if (options.nodes < 1)
    throw Error(ErrorKind::usage, "--nodes", fmt::format("got {}, expected at least 1", options.nodes));
  // Not freed: the program ends after this, and taking 10,000 runs apart was a quarter of its time.
  static const study::Study& study = *new study::Study(options.input.open());
  const store::Lab lab = context.lab();
  const auto known = known_states(lab);
  const study::StudyPlan plan = study::make_plan(study, known);
  const TimeEstimate times = estimate(study, plan, lab, !options.no_measure);
  warn_of_memory(times, jobs);
  const std::vector<std::string> budgets = report::budget_lines(study.runs, report::shipped_budgets());
  if (!context.json) {
    print(study, plan, times, jobs, options.nodes, budgets);
    if (options.list)
      for (const config::RunConfig& run : study.runs)
        fmt::print("{} {}\n", run.id, report::RunLabels(study.axes).of(run));
    return 0;
  }
  Json axes = Json::array(), states = Json::object(), runs = Json::array();
  for (const study::Axis& axis : study.axes)
    axes.push_back({{"path", axis.path}, {"values", config_to_json({axis.values, axis.origin})}});
  for (const auto& [state, count] : plan.states) states[std::string(store::run_state_name(state))] = count;
  if (options.list)
    for (const config::RunConfig& run : study.runs) runs.push_back({{"id", run.id}, {"config", run.json()}});
  Json document = {{"study", study.name},
                   {"title", study.title},
                   {"scale", study.scale},
                   {"axes", axes},
                   {"states", states},
                   {"total", amount_json(plan.total)},
                   {"missing", amount_json(plan.missing)},
                   {"measured", times.measured},
                   {"not_measured", times.why_not},
                   {"budgets", budgets},
                   {"workers", jobs},
                   {"nodes", options.nodes},
                   {"seconds", Json()},
                   {"seconds_on_nodes", Json()}};
  if (options.list) document["runs"] = runs;
  if (!times.seconds.empty() || plan.to_run.empty()) {
    document["seconds"] = study::makespan(times.seconds, jobs);
    document["seconds_on_nodes"] = study::makespan(times.seconds, jobs * options.nodes);
  }
  print_json(document);
  return 0;
}

}  // namespace

void add_plan(CLI::App& app, Context& context) {
  auto options = std::make_shared<PlanOptions>();
  options->input.add(app);
  options->jobs.add(app, "workers on each node");
  app.add_option("--nodes", options->nodes, "number of machines like this one to estimate for")->capture_default_str();
  app.add_flag("--no-measure", options->no_measure, "do not measure; estimate the time only if it was measured before");
  app.add_flag("--list", options->list, "list every run with its id");
  app.callback([options, &context] { context.action = [options, &context] { return plan(*options, context); }; });
  add_examples(app,
               "  mneme plan demo\n  mneme plan studies/my-study.toml --scale paper --nodes 16\n"
               "  mneme plan demo --no-measure --json");
}

}  // namespace mneme::cli
