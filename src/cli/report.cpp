#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "cli/command.h"
#include "cli/study_files.h"
#include "cli/study_input.h"
#include "cli/study_report.h"
#include "core/error.h"

namespace mneme {
namespace {

struct ReportOptions {
  std::vector<std::string> arguments;
  std::string scale;
  std::string output;
  std::string kind;
};

bool is_study(const std::vector<std::string>& arguments) {
  return !arguments.empty() && arguments[0].find_first_of("=<>") == std::string::npos;
}

// What all runs of a selection share, as a study would say it.
ReportSubject subject_of_rows(const std::vector<ResultRow>& rows, const FigureRequest& figure) {
  ReportSubject subject{.name = "runs",
                        .study = "",
                        .title = figure.kind->name == "lr-window" ? "Learning-rate windows" : "Runs",
                        .scale = "",
                        .figures = {figure},
                        .chance = {},
                        .planned = rows.size(),
                        .paper = {},
                        .environments = {}};
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const double chance = resolve_run(config_from_json(rows[i].config, rows[i].run)).chance;
    if (i == 0) subject.chance = chance;
    if (subject.chance != chance) subject.chance.reset();
  }
  return subject;
}

int report(const ReportOptions& options, const Context& context) {
  std::vector<ResultRow> rows;
  ReportSubject subject;
  const Lab lab = context.lab();
  if (is_study(options.arguments)) {
    const Study study =
        open_study(options.arguments[0], {options.scale, {options.arguments.begin() + 1, options.arguments.end()}});
    lab.require();
    Index index = open_index(lab);
    subject = subject_of(study);
    if (!options.kind.empty()) subject.figures = {default_figure(options.kind)};
    rows = rows_of(study, subject.figures, index, lab);
    if (rows.empty())
      throw Error(
          ErrorKind::data, study.name,
          fmt::format("no run of this study is in {}, expected some; run them with: mneme sweep {}{}",
                      lab.root().string(), options.arguments[0], study.scale.empty() ? "" : " --scale " + study.scale));
  } else {
    if (!options.scale.empty()) throw Error(ErrorKind::usage, "--scale", "needs a study, got none");
    RunQuery query;
    for (const std::string& filter : options.arguments) query.filters.push_back(parse_run_filter(filter));
    lab.require();
    Index index = open_index(lab);
    const FigureRequest figure = options.kind.empty() ? default_figure() : default_figure(options.kind);
    for (const RunRecord& record : index.query(query)) {
      rows.push_back(row_of(record));
      add_details(rows.back(), {figure}, index, lab);
    }
    subject = subject_of_rows(rows, figure);
  }
  subject.environments = environments_of(rows, lab);
  const StudyReport written =
      write_report(rows, subject, options.output.empty() ? lab.reports() : Path(options.output));
  print_report(written, subject, context.json);
  return 0;
}

}  // namespace

void add_report(CLI::App& app, Context& context) {
  auto options = std::make_shared<ReportOptions>();
  app.add_option("input", options->arguments,
                 "a study (name or file) and assignments a.b=value; or filters on the lab's runs, as for `mneme runs`")
      ->type_name("[STUDY] [KEY=VALUE ...]");
  add_scale_option(app, options->scale);
  app.add_option("--output", options->output, "directory for the report (default: reports/ in the lab)")
      ->type_name("DIR");
  app.add_option("--kind", options->kind, "draw this kind of figure, whatever the study asks for (docs/figures.md)")
      ->type_name("KIND");
  app.callback([options, &context] { context.action = [options, &context] { return report(*options, context); }; });
  add_examples(app,
               "  mneme report demo\n  mneme report studies/my-study.toml --scale laptop\n  mneme report "
               "task.length=64 width=64");
}

}  // namespace mneme
