#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <optional>

#include "cli/command.h"
#include "cli/other_code.h"
#include "cli/print_report.h"
#include "cli/study_input.h"
#include "cli/terminal/fit.h"
#include "core/error.h"
#include "report/pages/paper_report.h"
#include "report/pages/study_files.h"
#include "report/pages/study_report.h"
#include "study/run_filters.h"

namespace mneme::cli {
namespace {

struct ReportOptions {
  std::vector<std::string> arguments;
  std::string scale;
  std::string output;
  std::string kind;
  std::string paper;
  bool all_rates = false;
  std::string results;  // directory with kept results, for runs that the lab has not
};

bool is_study(const std::vector<std::string>& arguments) {
  return !arguments.empty() && arguments[0].find_first_of("=<>") == std::string::npos;
}

// What all runs of a selection share, as a study would say it.
report::ReportSubject subject_of_rows(const std::vector<report::ResultRow>& rows, const report::FigureRequest& figure) {
  report::ReportSubject subject{.name = "runs",
                                .title = figure.kind->name == "lr-window" ? "Learning-rate windows" : "Runs",
                                .scale = "",
                                .figures = {figure},
                                .chance = {},
                                .planned = rows.size(),
                                .paper = {},
                                .environments = {}};
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const double chance = config::resolve_run(config_from_json(rows[i].config, rows[i].run)).chance;
    if (i == 0) subject.chance = chance;
    if (subject.chance != chance) subject.chance.reset();
  }
  return subject;
}

// The figure that --kind and --all-rates ask for.
report::FigureRequest asked_figure(const ReportOptions& options) {
  report::FigureRequest figure = options.kind.empty() ? report::default_figure() : report::default_figure(options.kind);
  if (options.all_rates) figure.options.set("rates", "all");
  return figure;
}

void check_all_rates(const ReportOptions& options) {
  if (options.all_rates && options.kind != "dynamics")
    throw Error(ErrorKind::usage, "--all-rates",
                fmt::format("{}, expected --kind dynamics",
                            options.kind.empty() ? "got no --kind" : fmt::format("got --kind {}", options.kind)));
}

// The page of a whole paper: only the page, for its parts are in the reports of its studies.
int report_paper(const ReportOptions& options, const Context& context) {
  const report::Paper& paper = report::find_paper(options.paper);
  if (!options.arguments.empty() || !options.kind.empty())
    throw Error(ErrorKind::usage, "--paper", "takes no study, filters or --kind: it reports all studies of the paper");
  if (!options.results.empty()) report::require_results(options.results);
  const store::Lab lab = context.lab();
  std::optional<store::Index> index;
  if (std::filesystem::exists(lab.root())) index.emplace(open_index(lab));
  std::vector<report::ReproductionState> states;
  for (const report::Reproduction* item : report::reproductions_of(paper))
    states.push_back(
        options.results.empty()
            ? report::state_in_lab(*item, options.scale, lab, index ? &*index : nullptr)
            : report::state_in_both(*item, options.scale, lab, index ? &*index : nullptr, options.results));
  const std::string scale = options.scale.empty() ? std::string(study::kDefaultScale) : options.scale;
  const Path directory =
      (options.output.empty() ? lab.reports() : Path(options.output)) / fmt::format("paper-{}-{}", paper.letter, scale);
  file_system().create_directories(directory);
  write_file_atomically(directory / "report.html",
                        report::render_page(report::paper_page(paper, scale, states, options.results)));
  if (context.json) {
    Json items = Json::array();
    for (const report::ReproductionState& state : states) items.push_back(report::state_json(state));
    print_json(
        {{"paper", paper.letter}, {"scale", scale}, {"page", (directory / "report.html").string()}, {"items", items}});
  } else {
    fmt::print("{}\nreport  {}\n", fit(report::paper_summary(states)), (directory / "report.html").string());
  }
  return 0;
}

int report(const ReportOptions& options, const Context& context) {
  if (!options.paper.empty()) return report_paper(options, context);
  if (!options.results.empty()) throw Error(ErrorKind::usage, "--results", "needs --paper");
  check_all_rates(options);
  std::vector<report::ResultRow> rows;
  report::ReportSubject subject;
  const store::Lab lab = context.lab();
  if (is_study(options.arguments)) {
    const study::Study study = report::open_study(
        options.arguments[0], {options.scale, {options.arguments.begin() + 1, options.arguments.end()}});
    lab.require();
    store::Index index = open_index(lab);
    report::StudyContent content = report::collect_study(study, index, lab, options.kind);
    subject = std::move(content.subject);
    rows = std::move(content.rows);
    if (options.all_rates) subject.figures.front().options.set("rates", "all");
    if (rows.empty())
      throw Error(ErrorKind::data, study.name,
                  fmt::format("no run of this study is in {}; run them with: mneme sweep {}", lab.root().string(),
                              StudyInput{options.arguments, options.scale}.words_for(study)));
  } else {
    if (!options.scale.empty()) throw Error(ErrorKind::usage, "--scale", "needs a study");
    store::RunQuery query;
    for (const std::string& filter : options.arguments) query.filters.push_back(study::parse_filter(filter));
    lab.require();
    store::Index index = open_index(lab);
    const report::FigureRequest figure = asked_figure(options);
    const std::vector<store::RunRecord> records = index.query(query);
    if (records.empty())
      throw Error(ErrorKind::data, "report",
                  fmt::format("no run in {} matches, expected at least one", lab.root().string()));
    for (const store::RunRecord& record : records) {
      rows.push_back(report::row_of(record));
      report::add_details(rows.back(), {figure}, index, lab);
    }
    subject = subject_of_rows(rows, figure);
    // Other filters choose other runs, whose report is one of its own.
    subject.name = study::variant_name(subject.name, options.arguments);
    subject.environments = report::environments_of(rows, lab);
    subject.inspections = report::inspections_of(rows, lab);
  }
  // Another kind of figure is another report: it leaves the one of the study as it is.
  if (!options.kind.empty()) subject.name += "-" + options.kind + (options.all_rates ? "-all-rates" : "");
  std::vector<std::string> ids;
  for (const report::ResultRow& row : rows) ids.push_back(row.run);
  reckon_with_other_code(ids, lab, {});
  const report::StudyReport written =
      report::write_report(rows, subject, options.output.empty() ? lab.reports() : Path(options.output));
  print_report(written, subject, context.json);
  return 0;
}

}  // namespace

void add_report(CLI::App& app, Context& context) {
  auto options = std::make_shared<ReportOptions>();
  app.add_option("input", options->arguments,
                 "a study (name or file) and overrides a.b=value; or filters on the lab's runs, as for `mneme runs`")
      ->type_name("[STUDY] [KEY=VALUE ...]");
  add_scale_option(app, options->scale);
  app.add_option("--output", options->output, "directory for the report (default: reports/ in the lab)")
      ->type_name("DIR");
  app.add_option("--kind", options->kind,
                 "draw this kind of figure instead of the one the study names (docs/figures.md)")
      ->type_name("KIND");
  app.add_flag("--all-rates", options->all_rates,
               "with --kind dynamics: draw every learning rate, not only the best of each model");
  app.add_option("--paper", options->paper, "write one page with all figures, tables and claims of paper A or B")
      ->type_name("A|B");
  app.add_option("--results", options->results, "with --paper: use saved results for runs missing from this lab")
      ->type_name("DIR");
  app.callback([options, &context] { context.action = [options, &context] { return report(*options, context); }; });
  add_examples(app,
               "  mneme report demo\n  mneme report studies/my-study.toml --scale laptop\n  mneme report "
               "task.length=64 width=64\n  mneme report demo --kind dynamics --all-rates\n  mneme report --paper A "
               "--results results");
}

}  // namespace mneme::cli
