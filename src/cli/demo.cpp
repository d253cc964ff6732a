#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "cli/command.h"
#include "cli/study_files.h"
#include "cli/study_record.h"
#include "cli/study_report.h"
#include "cli/train_runs.h"
#include "core/error.h"
#include "core/text.h"

namespace mneme {
namespace {

int demo(const std::string& scale, std::int64_t jobs_option, bool jobs_given, const Context& context) {
  const int jobs = checked_jobs(jobs_option, jobs_given);
  const Study study = open_study("demo", {scale, {}});
  if (!context.json)
    fmt::print(stderr, "{}\n{} runs ({}) with {} workers; each learns to recall the value that stood after a key.\n\n",
               study.title, study.runs.size(), "learning rates x seeds", jobs);
  context.lab().create();
  remember_study(context.lab(), study);
  const ExecutionResult result = train_runs(study.runs, context, jobs, RunLabels(study.axes));
  if (result.interrupted || !result.stopped.empty()) {
    if (!result.stopped.empty()) print_note("stopped: " + result.stopped);
    fmt::print(stderr, "mneme demo goes on where it stopped\n");
    return exit_code_of(result);
  }
  const Lab lab = context.lab();
  Index index = open_index(lab);
  ReportSubject subject = subject_of(study);
  const std::vector<ResultRow> rows = rows_of(study, subject.figures, index, lab);
  subject.environments = environments_of(rows, lab);
  const StudyReport report = write_report(rows, subject, lab.reports());
  if (!context.json) fmt::print("\n");
  print_report(report, subject, context.json);
  return exit_code_of(result);
}

}  // namespace

void add_demo(CLI::App& app, Context& context) {
  auto scale = std::make_shared<std::string>();
  auto jobs = std::make_shared<std::int64_t>(0);
  app.add_option("--scale", *scale, "smoke: a few seconds, to see that everything works")->type_name("NAME");
  const CLI::Option* jobs_option =
      app.add_option("--jobs", *jobs, "workers at a time (default: one per processor)")->type_name("N");
  app.callback([scale, jobs, jobs_option, &context] {
    context.action = [scale, jobs, given = jobs_option->count() > 0, &context] {
      return demo(*scale, *jobs, given, context);
    };
  });
  add_examples(app, "  mneme demo\n  mneme demo --scale smoke --lab /tmp/lab");
}

}  // namespace mneme
