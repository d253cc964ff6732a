#include "report/figures/figure_places.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "core/error.h"
#include "report/figures/spec.h"
#include "report/stats/cells.h"
#include "report/stats/format.h"
#include "report/stats/statistics.h"

namespace mneme::report {
namespace {

struct Place {
  const char* metric;  // in values.test
  const char* axis;
  const char* what;
  bool logarithmic;
};
constexpr Place kDistance{"accuracy_by_distance", "distance from the query to its answer (tokens)", "distance", true};
constexpr Place kPosition{"accuracy_by_position", "position of the query", "position", false};

// The first position or distance of a stretch -> accuracy; empty if the run does not say.
std::map<double, double> stretches(const ResultRow& row, const Place& place) {
  std::map<double, double> found;
  const Json test = row.values.value("test", Json::object());
  if (!test.contains(place.metric)) return found;
  try {
    for (const Json& bin : test.at(place.metric))
      found[std::max(bin.at("from").get<double>(), place.logarithmic ? 1.0 : 0.0)] = bin.at("accuracy").get<double>();
  } catch (const Json::exception& error) {
    throw Error(ErrorKind::data, fmt::format("run {}", row.run),
                fmt::format("{} of values.test: {}", place.metric, error.what()));
  }
  return found;
}

struct Curve {
  const Cell* cell;
  std::map<double, Summary> points;
};

std::vector<Curve> curves_of(const Cells& cells, const Place& place, double threshold) {
  std::vector<Curve> curves;
  for (const Cell& cell : cells.cells) {
    std::map<double, std::vector<double>> scores;
    for (const ResultRow* row : cell.rows)
      for (const auto& [at, accuracy] : stretches(*row, place)) scores[at].push_back(accuracy);
    Curve curve{&cell, {}};
    for (const auto& [at, list] : scores) curve.points.emplace(at, summarize(list, threshold));
    if (!curve.points.empty()) curves.push_back(std::move(curve));
  }
  return curves;
}

Json panel_of(const Cells& cells, std::size_t panel, const Place& place, double threshold) {
  const PanelSize size = panel_size(cells.panels.size());
  Json scale = {{"nice", false}, {"padding", 8}};
  if (place.logarithmic) scale.update({{"type", "log"}, {"base", 2}});
  const Json x = field("from", "quantitative", {{"scale", scale}, {"axis", {{"title", place.axis}}}});
  const auto y = [&](const char* name) { return percent_axis(name, "Accuracy (%)"); };
  const Json tip = tooltip({{"series", "model"}, {"from", "from"}, {"summary", "%"}});
  const CurveLayers curves = curve_layers("means", panel, cells.series, x, y, tip);
  Json layers = Json::array({curves.band});
  add_level(layers, threshold, fmt::format("{:.0f} %", 100 * threshold), {1, 3}, size.width + 5);
  layers.push_back(curves.line);
  layers.push_back(curves.points);
  return {{"width", size.width}, {"height", size.height}, {"layer", layers}};
}

FigureReport build_places(std::span<const ResultRow> rows, const FigureSubject& subject, const Options& options,
                          const Place& place) {
  const double threshold = options.real("threshold");
  const Cells cells = sort_into_cells(rows, {.panels = options.texts("panels"), .points = {}});
  const std::vector<Curve> curves = curves_of(cells, place, threshold);
  FigureReport report;
  Json means = Json::array(), data = Json::array();
  Records records;
  Table table{.columns = {{"panel"},
                          {"model"},
                          {"from", Align::right},
                          {"accuracy (%)", Align::right},
                          {"95 % interval", Align::right}},
              .rows = {}};
  for (const Curve& curve : curves) {
    Json points = Json::array();
    const std::string& panel = cells.panels[curve.cell->panel];
    for (const auto& [from, summary] : curve.points) {
      means.push_back({{"panel", curve.cell->panel},
                       {"series", curve.cell->series},
                       {"from", from},
                       {"mean", 100 * summary.mean},
                       {"min", 100 * summary.min},
                       {"max", 100 * summary.max},
                       {"summary", summary_text(summary)}});
      points.push_back({{"from", from}, {"accuracy", statistics_json(summary)}});
      table.rows.push_back(
          {panel, curve.cell->series, fmt::format("{}", from), mean_and_error(summary), interval_text(summary)});
      Record& record = records.emplace_back();
      record = {{"panel", panel},
                {"series", curve.cell->series},
                {"lr", curve.cell->chosen().rate},
                {fmt::format("from_{}_tokens", place.what), from},
                {"seeds", summary.n}};
      add_score(record, "accuracy", summary);
    }
    data.push_back(
        {{"panel", panel}, {"label", curve.cell->series}, {"lr", curve.cell->chosen().rate}, {"points", points}});
  }
  report.data = {{"by", place.what}, {"curves", data}};
  const std::vector<std::string> lines{setup_line(rows), counts_text(cells.counts, "per point", subject.scale),
                                       "line: mean; band: min to max"};
  if (curves.empty()) {
    report.figures.push_back({subject.name,
                              empty_figure(figure_title(subject, options), {lines[0]},
                                           fmt::format("no run says how accuracy depends on the {}", place.what)),
                              fmt::format("No run of this study has {} in its summary.", place.metric)});
    return report;
  }
  Json figure = figure_head(figure_title(subject, options), lines, cells.panels.size());
  figure["datasets"] = {{"means", means}};
  std::vector<Json> panels;
  for (std::size_t i = 0; i < cells.panels.size(); ++i) panels.push_back(panel_of(cells, i, place, threshold));
  add_panels(figure, std::move(panels), cells.panels);
  report.figures.push_back({fmt::format("{}-by-{}", subject.name, place.what), figure,
                            fmt::format("Test accuracy against the {}.", place.axis)});
  report.tables.push_back({fmt::format("Accuracy by {}", place.what), table,
                           "In per cent over seeds: mean ± standard error.", false, fmt::format("by-{}", place.what),
                           records});
  return report;
}

FigureKind kind_of_place(std::string name, std::string summary,
                         FigureReport (*build)(std::span<const ResultRow>, const FigureSubject&, const Options&)) {
  return {.name = std::move(name),
          .summary = std::move(summary),
          .options = {title_field(), threshold_field("accuracy that counts as solved: a dotted line"),
                      panels_field({"task.name", "task.length"})},
          .build = build};
}

}  // namespace

FigureKind by_distance_kind() {
  return kind_of_place("by-distance", "test accuracy against the distance from a query to its answer",
                       [](std::span<const ResultRow> rows, const FigureSubject& subject, const Options& options) {
                         return build_places(rows, subject, options, kDistance);
                       });
}

FigureKind by_position_kind() {
  return kind_of_place("by-position", "test accuracy against the position of the query",
                       [](std::span<const ResultRow> rows, const FigureSubject& subject, const Options& options) {
                         return build_places(rows, subject, options, kPosition);
                       });
}

}  // namespace mneme::report
