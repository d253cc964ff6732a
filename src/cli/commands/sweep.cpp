#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "cli/cluster_sweep.h"
#include "cli/command.h"
#include "cli/study_input.h"
#include "cli/terminal/terminal.h"
#include "cli/train_runs.h"
#include "core/error.h"
#include "core/text.h"
#include "report/claims/reproductions.h"
#include "report/pages/kept_results.h"
#include "report/pages/study_record.h"

namespace mneme::cli {
namespace {

struct SweepOptions {
  StudyInput input;
  JobsOption jobs;
  ClusterOptions cluster;
  TrainLimits limits;
  std::string save;  // directory to keep results in
};

// Where --save keeps the results of a study: under the item of a paper that it repeats, or its own name.
Path file_to_keep(const study::Study& study, const std::string& directory) {
  const report::Reproduction* item = report::reproduction_by(study.name);
  std::string name = item != nullptr ? item->id : study.name;
  std::replace(name.begin(), name.end(), '/', '-');
  return report::kept_file(directory, name, study.scale.empty() ? std::string(study::kUnscaled) : study.scale);
}

// Also what had ended before this sweep.
void keep_all(const study::Study& study, const store::Lab& lab, const Path& file) {
  std::vector<report::ResultRow> rows;
  for (const config::RunConfig& run : study.runs)
    if (lab.run(run.id).summary()) rows.push_back(report::row_in(lab.run(run.id), run));
  report::keep_results(file, rows);
}

void tell(const study::Study& study, const run::ExecutionResult& result, const std::string& words) {
  fmt::print("{}: {} done, {} diverged, {} failed, {} cancelled, {} unfinished\n", study.title,
             result.count(store::RunState::done), result.count(store::RunState::diverged),
             result.count(store::RunState::failed), result.count(store::RunState::cancelled),
             result.count(store::RunState::interrupted) + result.count(store::RunState::fresh));
  for (std::size_t i = 0; i < result.runs.size(); ++i)
    if (result.runs[i].state == store::RunState::failed)
      fmt::print("  failed {}: {}\n", study.runs[i].id, result.runs[i].reason);
  if (!result.stopped.empty()) fmt::print("stopped: {}\n", result.stopped);
  if (!result.limit.empty()) fmt::print("stopped by {}\n", result.limit);
  if (exit_code_of(result) != 0 || !result.limit.empty()) fmt::print("run the rest: mneme sweep {}\n", words);
  fmt::print("figure and tables: mneme report {}\n", words);
}

// Keeps and prints what became of the runs; the exit code.
int told(const study::Study& study, const run::ExecutionResult& result, const SweepOptions& options,
         const Context& context) {
  if (!options.save.empty()) keep_all(study, context.lab(), file_to_keep(study, options.save));
  if (context.json) {
    Json runs = Json::array();
    for (std::size_t i = 0; i < study.runs.size(); ++i)
      runs.push_back(result_json(study.runs[i], result.runs[i], context.lab()));
    print_json({{"study", study.name},
                {"overrides", study.overrides},
                {"title", study.title},
                {"scale", study.scale},
                {"interrupted", result.interrupted},
                {"stopped", result.stopped},
                {"limit", result.limit},
                {"runs", runs}});
  } else {
    tell(study, result, options.input.words_for(study));
  }
  return exit_code_of(result);
}

int sweep(const SweepOptions& options, const Context& context) {
  const int jobs = options.jobs.count();
  check_limits(options.limits);
  options.cluster.check();
  const study::Study study = options.input.open();
  if (options.cluster.slurm()) {
    run::ExecutionResult result;
    if (const auto code = sweep_by_slurm(study, options.cluster, options.limits.code, options.input, context, result))
      return *code;
    return told(study, result, options, context);
  }
  if (!context.json)
    fmt::print(stderr, "{}: {}{}, {} worker{}\n", study.title, counted(study.runs.size(), "run"),
               study.scale.empty() ? "" : " at scale " + study.scale, jobs, jobs == 1 ? "" : "s");
  context.lab().create();
  report::remember_study(context.lab(), study);
  TrainLimits limits = options.limits;
  if (!options.save.empty()) limits.keep = file_to_keep(study, options.save);
  const run::ExecutionResult result = train_runs(study.runs, context, jobs, report::RunLabels(study.axes), limits);
  return told(study, result, options, context);
}

}  // namespace

void add_sweep(CLI::App& app, Context& context) {
  auto options = std::make_shared<SweepOptions>();
  options->input.add(app);
  options->jobs.add(app);
  app.add_option("--max-runs", options->limits.max_runs, "start at most this many runs, then stop")->type_name("N");
  app.add_option("--max-time", options->limits.max_time, "stop after this time and save checkpoints: 90s, 10m, 2h")
      ->type_name("TIME");
  app.add_option(
         "--save", options->save,
         "save each result (JSON lines) in this directory as its run ends; runs saved there are not trained again")
      ->type_name("DIR");
  options->limits.code.add(app);
  options->cluster.add(app);
  app.callback([options, &context] { context.action = [options, &context] { return sweep(*options, context); }; });
  add_examples(app,
               "  mneme sweep demo\n  mneme sweep studies/my-study.toml --scale laptop --jobs 2\n  mneme sweep demo "
               "'train.seed=[1, 2, 3]'\n  mneme sweep demo --executor slurm --nodes 4 --workers-per-node 16 --time "
               "4:00:00 --detach");
}

}  // namespace mneme::cli
