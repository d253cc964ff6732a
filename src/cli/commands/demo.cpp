#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "cli/command.h"
#include "cli/print_report.h"
#include "cli/study_input.h"
#include "cli/terminal/terminal.h"
#include "cli/train_runs.h"
#include "core/error.h"
#include "core/text.h"
#include "report/pages/study_files.h"
#include "report/pages/study_record.h"
#include "report/pages/study_report.h"

namespace mneme::cli {
namespace {

struct DemoOptions {
  std::string scale;
  JobsOption jobs;
};

int demo(const DemoOptions& options, const Context& context) {
  const int jobs = options.jobs.count();
  const study::Study study = report::open_study("demo", {options.scale, {}});
  if (!context.json)
    fmt::print(stderr, "{}\n{} ({}) with {}; each learns to recall the value that followed a key.\n\n", study.title,
               counted(study.runs.size(), "run"), "learning rates x seeds",
               counted(static_cast<std::size_t>(jobs), "worker"));
  context.lab().create();
  report::remember_study(context.lab(), study);
  const run::ExecutionResult result = train_runs(study.runs, context, jobs, report::RunLabels(study.axes));
  if (result.interrupted || !result.stopped.empty()) {
    if (!result.stopped.empty()) print_note("stopped: " + result.stopped);
    fmt::print(stderr, "run `mneme demo` again to resume\n");
    return exit_code_of(result);
  }
  const store::Lab lab = context.lab();
  store::Index index = open_index(lab);
  const auto [subject, rows] = report::collect_study(study, index, lab);
  const report::StudyReport report = report::write_report(rows, subject, lab.reports());
  if (!context.json) fmt::print("\n");
  print_report(report, subject, context.json);
  return exit_code_of(result);
}

}  // namespace

void add_demo(CLI::App& app, Context& context) {
  auto options = std::make_shared<DemoOptions>();
  app.add_option("--scale", options->scale, "smoke: a test that everything works, in a few seconds")->type_name("NAME");
  options->jobs.add(app);
  app.callback([options, &context] { context.action = [options, &context] { return demo(*options, context); }; });
  add_examples(app, "  mneme demo\n  mneme demo --scale smoke --lab /tmp/lab");
}

}  // namespace mneme::cli
