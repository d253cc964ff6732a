// Commands that change what the lab holds: retry, cancel, rm.
#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "cli/command.h"
#include "cli/confirm.h"
#include "cli/run_selection.h"
#include "cli/study_jobs.h"
#include "core/error.h"
#include "run/failure_record.h"
#include "store/lease_holder.h"
#include "store/leases.h"
#include "store/run_notes.h"
#include "store/run_writer.h"
#include "store/trash.h"

namespace mneme::cli {
namespace {

struct ChangeOptions {
  RunSelection runs;
  bool done = false, yes = false, jobs = false;
};

struct Change {
  std::vector<std::string> changed;
  std::vector<std::string> left;  // "id why it stays as it is"
  int exit_code = 0;              // of a disk or database that refused

  // `trouble` is "" or why the run stays as it is.
  void add(const std::string& id, const std::string& trouble) {
    if (trouble.empty())
      changed.push_back(id);
    else
      left.push_back(fmt::format("{} {}", id, trouble));
  }
};

void report(const Change& change, std::string_view what, bool json) {
  if (json) return print_json({{what, change.changed}, {"left", change.left}});
  fmt::print("{} run{} {}\n", change.changed.size(), change.changed.size() == 1 ? "" : "s",
             what == "runnable" ? "can be trained again" : what);
  for (const std::string& line : change.left) fmt::print("  {}\n", line);
}

bool has_result(const store::RunDirectory& directory) {
  const store::RunState state = directory.state();
  return state == store::RunState::done || state == store::RunState::diverged;
}

std::string make_runnable(const store::RunDirectory& directory, const std::string& id, store::Leases& leases) {
  const store::RunState state = directory.state();
  if (state != store::RunState::failed && state != store::RunState::cancelled)
    return fmt::format("is {}, expected failed or cancelled{}", store::run_state_name(state),
                       has_result(directory) ? "; --done trains it again" : "");
  const auto attempt = leases.acquire(id, directory.attempt().number);
  if (!attempt) return "is running";
  const store::RunWriter writer = store::RunWriter::speak_for(directory, *attempt, store::our_holder());
  writer.set_deaths(0);
  writer.remove_summary();
  writer.log(fmt::format("was {}; can run again", store::run_state_name(state)));
  leases.release(id, *attempt);
  return "";
}

// Its files go to the trash; a new directory with the same configuration takes their place.
std::string start_over(const store::Lab& lab, const std::string& id, store::Leases& leases) {
  const Json config = lab.run(id).config();
  const store::RunNotes notes = store::read_notes(lab.run(id));
  store::move_to_trash(lab, id, leases);
  lab.run(id).create(config);
  // They are about the run, not about the results that were.
  store::change_notes(lab.run(id), [&](store::RunNotes& fresh) { fresh = notes; });
  return "";
}

std::string cancel_run(const store::RunDirectory& directory, const std::string& id, store::Leases& leases) {
  const store::RunState state = directory.state();
  if (has_result(directory) || state == store::RunState::cancelled)
    return fmt::format("is {} already", store::run_state_name(state));
  // A worker that has it is refused from here on, and its command finds it cancelled.
  const std::int64_t attempt = leases.seize(id, directory.attempt().number);
  const std::string trouble =
      run::record_ending(directory, id, attempt, {.outcome = "cancelled", .reason = "by `mneme cancel`"});
  leases.release(id, attempt);
  return trouble;
}

// Carries out `action(lab, id, leases)` for each run; what it throws about one run does not stop the others.
template <typename Action>
Change change_each(const std::vector<std::string>& ids, const store::Lab& lab, Action action) {
  const auto leases = store::open_leases(lab, {.holder = store::our_holder()});
  Change change;
  for (const std::string& id : ids) {
    try {
      change.add(id, action(id, *leases));
    } catch (const Error& error) {
      change.add(id, error.what());
      if (error.kind() == ErrorKind::io) change.exit_code = error.exit_code();
    }
  }
  return change;
}

int retry(const ChangeOptions& options, const Context& context) {
  options.runs.require_some();
  const store::Lab lab = context.lab();
  lab.require();
  store::Index index = open_index(lab);
  const std::vector<std::string> ids = options.runs.ids(index);
  std::size_t results = 0;
  for (const std::string& id : ids) results += options.done && has_result(lab.run(id)) ? 1 : 0;
  if (results > 0 && !confirmed(fmt::format("move the results of {} run{} to {} and let them be trained again", results,
                                            results == 1 ? "" : "s", lab.trash().string()),
                                options.yes))
    throw Error(ErrorKind::usage, "retry", "nothing was changed");
  const Change change = change_each(ids, lab, [&](const std::string& id, store::Leases& leases) {
    return options.done && has_result(lab.run(id)) ? start_over(lab, id, leases)
                                                   : make_runnable(lab.run(id), id, leases);
  });
  index.rebuild_runs(ids);
  report(change, "runnable", context.json);
  return change.exit_code;
}

int cancel(const ChangeOptions& options, const Context& context) {
  options.runs.require_some();
  if (options.jobs && (options.runs.study.empty() || !options.runs.arguments.empty()))
    throw Error(ErrorKind::usage, "--jobs", "ends the Slurm jobs of a study, expected --study and no filters");
  const store::Lab lab = context.lab();
  lab.require();
  // The jobs of the whole study; part of its runs can be cancelled while the jobs go on with the rest.
  std::vector<std::string> jobs;
  if (!options.runs.study.empty() && options.runs.arguments.empty()) {
    const study::Study study = options.runs.open_study();
    // Nothing is lost with the jobs alone: a name without more stands for all of its scales and variants.
    jobs = cancel_jobs(lab, study, options.jobs && options.runs.scale.empty() && study.overrides.empty());
  }
  if (!context.json)
    for (const std::string& line : jobs) fmt::print("{}\n", line);
  if (options.jobs) {
    if (context.json) print_json({{"jobs", jobs}});
    if (!context.json && jobs.empty()) fmt::print("no job of this study is in Slurm's queue\n");
    return 0;
  }
  store::Index index = open_index(lab);
  // Runs of a study come with their configuration, so also those that were never started can be cancelled.
  if (options.runs.arguments.empty())
    for (const config::RunConfig& run : options.runs.planned()) lab.run(run.id).create(run.json());
  index.refresh();
  const std::vector<std::string> ids = options.runs.ids(index);
  const Change change = change_each(
      ids, lab, [&](const std::string& id, store::Leases& leases) { return cancel_run(lab.run(id), id, leases); });
  index.rebuild_runs(ids);
  report(change, "cancelled", context.json);
  return change.exit_code;
}

int remove_runs(const ChangeOptions& options, const Context& context) {
  options.runs.require_some();
  const store::Lab lab = context.lab();
  lab.require();
  store::Index index = open_index(lab);
  const std::vector<std::string> ids = options.runs.ids(index);
  if (!ids.empty() &&
      !confirmed(fmt::format("move {} run{} to {}", ids.size(), ids.size() == 1 ? "" : "s", lab.trash().string()),
                 options.yes))
    throw Error(ErrorKind::usage, "rm", "nothing was removed");
  const Change change = change_each(ids, lab, [&](const std::string& id, store::Leases& leases) {
    store::move_to_trash(lab, id, leases);
    return "";
  });
  index.rebuild_runs(ids);
  report(change, "removed", context.json);
  if (!context.json && !change.changed.empty())
    fmt::print("  they are in {}; to restore one, move it back to runs/ID\n", lab.trash().string());
  return change.exit_code;
}

using Action = int (*)(const ChangeOptions&, const Context&);

std::shared_ptr<ChangeOptions> add_change(CLI::App& app, Context& context, Action action) {
  auto options = std::make_shared<ChangeOptions>();
  options->runs.add(app);
  app.callback([options, &context, action] {
    context.action = [options, &context, action] { return action(*options, context); };
  });
  return options;
}

}  // namespace

void add_retry(CLI::App& app, Context& context) {
  const auto options = add_change(app, context, retry);
  app.add_flag("--done", options->done,
               "also select finished runs: their results move to the lab's trash, and they start again");
  app.add_flag("--yes", options->yes, "with --done: do not ask");
  add_examples(app,
               "  mneme retry 3f2a\n  mneme retry state=failed mixer=mamba\n  mneme retry --study demo\n"
               "  mneme retry --done 3f2a");
}

void add_cancel(CLI::App& app, Context& context) {
  const auto options = add_change(app, context, cancel);
  app.add_flag("--jobs", options->jobs,
               "with --study: only end its Slurm jobs, after saving checkpoints; the runs can resume later");
  add_examples(app,
               "  mneme cancel 3f2a\n  mneme cancel 'lr>1e-2' state=running\n  mneme cancel --study demo\n"
               "  mneme cancel --study demo --jobs");
}

void add_rm(CLI::App& app, Context& context) {
  const auto options = add_change(app, context, remove_runs);
  app.add_flag("--yes", options->yes, "do not ask");
  add_examples(app, "  mneme rm 3f2a\n  mneme rm state=failed --yes\n  mneme rm --study demo mixer=rnn");
}

}  // namespace mneme::cli
