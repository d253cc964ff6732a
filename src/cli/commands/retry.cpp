#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "cli/command.h"
#include "core/error.h"
#include "report/pages/study_files.h"
#include "run/failure_record.h"
#include "store/claims.h"
#include "store/run_writer.h"

namespace mneme::cli {
namespace {

struct ChangeOptions {
  std::vector<std::string> arguments;
  std::string study, scale;
};

struct Change {
  std::vector<std::string> changed;
  std::vector<std::string> left;  // "id: why it stays as it is"
};

void report(const Change& change, std::string_view what, bool json) {
  if (json) return print_json({{what, change.changed}, {"left", change.left}});
  fmt::print("{} runs {}\n", change.changed.size(), what);
  for (const std::string& line : change.left) fmt::print("  {}\n", line);
}

// Runs of a study come with their configuration, so also those that were never started can be cancelled.
std::vector<config::RunConfig> study_runs(const ChangeOptions& options) {
  if (options.study.empty()) return {};
  return report::open_study(options.study, {options.scale, {}}).runs;
}

std::string make_runnable(const store::RunDirectory& directory, const std::string& id, store::Claims& claims) {
  const store::RunState state = directory.state();
  if (state != store::RunState::failed && state != store::RunState::cancelled)
    return fmt::format("is {}, expected failed or cancelled", store::run_state_name(state));
  const auto attempt = claims.claim(id, directory.attempt().number);
  if (!attempt) return "is being run";
  const store::RunWriter writer = store::RunWriter::speak_for(directory, *attempt, store::our_holder());
  writer.set_deaths(0);
  writer.remove_summary();
  writer.log(fmt::format("was {}; may be run again", store::run_state_name(state)));
  claims.release(id, *attempt);
  return "";
}

std::string cancel_run(const store::RunDirectory& directory, const std::string& id, store::Claims& claims) {
  const store::RunState state = directory.state();
  if (state == store::RunState::done || state == store::RunState::diverged || state == store::RunState::cancelled)
    return fmt::format("is {} already", store::run_state_name(state));
  // A worker that has it is refused from here on, and its command finds it cancelled.
  const std::int64_t attempt = claims.seize(id, directory.attempt().number);
  const std::string trouble =
      run::record_ending(directory, id, attempt, {.outcome = "cancelled", .reason = "by `mneme cancel`"});
  claims.release(id, attempt);
  return trouble;
}

template <typename Action>
int change_runs(const ChangeOptions& options, const Context& context, const char* what, Action action) {
  if (options.arguments.empty() && options.study.empty())
    throw Error(ErrorKind::usage, "", "got no run, expected some: the first digits of an id, KEY=VALUE, or --study");
  const std::vector<config::RunConfig> planned = study_runs(options);
  const store::Lab lab = context.lab();
  lab.require();
  store::Index index = open_index(lab);
  const auto claims = store::open_claims(lab, {.holder = store::our_holder()});
  std::vector<std::string> ids = find_run_ids(index, options.arguments);
  for (const config::RunConfig& run : planned) ids.push_back(run.id);
  Change change;
  for (const std::string& id : ids) {
    const auto known =
        std::find_if(planned.begin(), planned.end(), [&](const config::RunConfig& run) { return run.id == id; });
    if (known != planned.end()) lab.run(id).create(known->json);
    const std::string trouble = action(lab.run(id), id, *claims);
    if (trouble.empty())
      change.changed.push_back(id);
    else
      change.left.push_back(fmt::format("{} {}", id, trouble));
    index.update(lab.run(id));
  }
  report(change, what, context.json);
  return 0;
}

void add_inputs(CLI::App& app, ChangeOptions& options) {
  app.add_option("runs", options.arguments, "the first digits of ids; or filters, as for `mneme runs`")
      ->type_name("RUN ... | KEY=VALUE ...");
  app.add_option("--study", options.study, "all runs of a study")->type_name("STUDY");
  app.add_option("--scale", options.scale, "the study's scale")->type_name("NAME");
}

}  // namespace

void add_retry(CLI::App& app, Context& context) {
  auto options = std::make_shared<ChangeOptions>();
  add_inputs(app, *options);
  app.callback([options, &context] {
    context.action = [options, &context] { return change_runs(*options, context, "runnable", make_runnable); };
  });
  add_examples(app, "  mneme retry 3f2a\n  mneme retry state=failed mixer=mamba\n  mneme retry --study demo");
}

void add_cancel(CLI::App& app, Context& context) {
  auto options = std::make_shared<ChangeOptions>();
  add_inputs(app, *options);
  app.callback([options, &context] {
    context.action = [options, &context] { return change_runs(*options, context, "cancelled", cancel_run); };
  });
  add_examples(app, "  mneme cancel 3f2a\n  mneme cancel 'lr>1e-2' state=running\n  mneme cancel --study demo");
}

}  // namespace mneme::cli
