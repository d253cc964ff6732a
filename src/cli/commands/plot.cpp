#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "cli/command.h"
#include "cli/run_selection.h"
#include "cli/terminal/fit.h"
#include "core/error.h"
#include "core/hash.h"
#include "core/text.h"
#include "report/figures/render.h"
#include "report/figures/run_curves.h"
#include "report/pages/run_label.h"
#include "report/pages/study_rows.h"

namespace mneme::cli {
namespace {

constexpr std::size_t kMostCurves = 60;  // more lines than these are a tangle

struct PlotOptions {
  RunSelection runs;
  std::vector<std::string> metrics;
  std::string title = "Runs";
  std::string output;
  bool logarithmic = false;
};

std::vector<report::RunCurves> read_curves(const std::vector<std::string>& ids, store::Index& index,
                                           const store::Lab& lab) {
  std::vector<report::RunCurves> runs;
  for (const std::string& id : ids) {
    report::RunCurves run{.row = report::row_of(find_record(index, id)), .evaluations = {}};
    for (Json& metric : lab.run(id).metrics())
      if (metric.value("split", "") == "validation") run.evaluations.push_back(std::move(metric));
    if (run.evaluations.empty())
      print_note(fmt::format("run {} has no evaluation yet; it is left out", id));
    else
      runs.push_back(std::move(run));
  }
  report::name_curves(runs);
  return runs;
}

void check_metrics(const std::vector<std::string>& metrics, const std::vector<report::RunCurves>& runs) {
  const std::vector<std::string> known = report::curve_metrics(runs);
  for (const std::string& metric : metrics)
    if (std::find(known.begin(), known.end(), metric) == known.end())
      throw Error(ErrorKind::usage, "--metric", fmt::format("got '{}'{}", metric, suggestion(metric, known)));
}

// Without --output: a name of its own for every choice of runs and metrics, so that plots do not overwrite each other.
Path stem_of(const PlotOptions& options, const std::vector<report::RunCurves>& runs, const store::Lab& lab) {
  if (!options.output.empty()) {
    Path stem = options.output;
    for (const char* ending : {".svg", ".png", ".csv", ".json", ".vl"})
      if (stem.extension() == ending) stem.replace_extension();
    if (stem.filename().empty() || std::filesystem::is_directory(stem)) stem /= "plot";
    return stem;
  }
  std::vector<std::string> parts = options.metrics;
  for (const report::RunCurves& run : runs) parts.push_back(run.row.run);
  return lab.reports() / fmt::format("plot-{}", sha256_hex(join(parts, " ")).substr(0, 8));
}

int plot_runs(PlotOptions options, const Context& context) {
  options.runs.require_some();
  const store::Lab lab = context.lab();
  lab.require();
  store::Index index = open_index(lab);
  const std::vector<std::string> ids = options.runs.ids(index);
  if (ids.empty()) throw Error(ErrorKind::usage, "plot", "no run matches, expected at least one");
  if (ids.size() > kMostCurves)
    throw Error(ErrorKind::usage, "plot",
                fmt::format("got {} runs, expected at most {}; filter them, for example by seed or rate", ids.size(),
                            kMostCurves));
  const std::vector<report::RunCurves> runs = read_curves(ids, index, lab);
  if (runs.empty()) throw Error(ErrorKind::data, "plot", "none of these runs has been evaluated yet");
  if (options.metrics.empty()) options.metrics = {"loss", "accuracy"};
  check_metrics(options.metrics, runs);

  const Path stem = stem_of(options, runs, lab);
  if (stem.has_parent_path()) file_system().create_directories(stem.parent_path());
  const Json figure = report::run_curves_figure(runs, options.metrics, {options.title, options.logarithmic});
  report::Rendering rendering = report::render_figure(figure, stem);
  rendering.written.emplace_back(stem.string() + ".csv");
  write_file_atomically(rendering.written.back(), report::to_csv(report::run_curves_records(runs, options.metrics)));
  for (const std::string& message : rendering.messages) print_note(message);
  if (context.json) {
    Json files = Json::array(), labels = Json::object();
    for (const Path& file : rendering.written) files.push_back(file.string());
    for (const report::RunCurves& run : runs) labels[run.row.run] = run.label;
    print_json({{"runs", labels}, {"metrics", options.metrics}, {"files", files}, {"messages", rendering.messages}});
    return 0;
  }
  report::Table table{
      .columns = {{"run"}, {"label"}, {"state"}, {"steps", report::Align::right}, {"validation", report::Align::right}},
      .rows = {}};
  for (const report::RunCurves& run : runs)
    table.rows.push_back({run.row.run, run.label, run.row.outcome, grouped(run.row.steps),
                          report::percent(run.row.validation_accuracy)});
  fmt::print("{}\n", fit(table));
  for (const Path& file : rendering.written) fmt::print("wrote {}\n", file.string());
  return 0;
}

}  // namespace

void add_plot(CLI::App& app, Context& context) {
  auto options = std::make_shared<PlotOptions>();
  options->runs.add(app);
  app.add_option("--metric", options->metrics,
                 "what to draw, one plot each; can be repeated (default: loss and accuracy); also train_loss, "
                 "gradient_norm, learning_rate, ...")
      ->type_name("NAME")
      ->take_all()
      ->allow_extra_args(false);
  app.add_option("--title", options->title, "title of the figure")->type_name("TEXT")->capture_default_str();
  app.add_flag("--log", options->logarithmic, "use a logarithmic axis for metrics that are not fractions");
  app.add_option("--output", options->output,
                 "file name without extension: writes .svg, .png, .vl.json and .csv (default: reports/ in the lab)")
      ->type_name("FILE");
  app.callback([options, &context] { context.action = [options, &context] { return plot_runs(*options, context); }; });
  add_examples(app,
               "  mneme plot 3f2a 9b1c\n  mneme plot mixer=mamba seed=42 --metric loss --metric gradient_norm --log\n"
               "  mneme plot --study demo mixer=attention --output curves");
}

}  // namespace mneme::cli
