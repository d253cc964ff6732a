#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "cli/command.h"
#include "cli/study_files.h"
#include "cli/study_input.h"
#include "cli/study_record.h"
#include "cli/study_report.h"
#include "cli/train_runs.h"
#include "core/error.h"
#include "core/text.h"

namespace mneme {
namespace {

struct DemoOptions {
  std::string scale;
  JobsOption jobs;
};

int demo(const DemoOptions& options, const Context& context) {
  const int jobs = options.jobs.count();
  const Study study = open_study("demo", {options.scale, {}});
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
  auto options = std::make_shared<DemoOptions>();
  app.add_option("--scale", options->scale, "smoke: a few seconds, to see that everything works")->type_name("NAME");
  options->jobs.add(app);
  app.callback([options, &context] { context.action = [options, &context] { return demo(*options, context); }; });
  add_examples(app, "  mneme demo\n  mneme demo --scale smoke --lab /tmp/lab");
}

}  // namespace mneme
