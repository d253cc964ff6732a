#include "report/figures/figure_extrapolation.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "report/figures/figure_style.h"
#include "report/figures/spec.h"
#include "report/stats/cells.h"
#include "report/stats/format.h"
#include "report/stats/generalisation.h"

namespace mneme::report {
namespace {

struct Curve {
  const Cell* cell;
  std::map<double, Summary> points;
};

// Everything about one axis.
struct Axis {
  std::string name;
  std::string metric;
  Cells cells;
  std::vector<Curve> curves;
  std::set<double> values;
  std::vector<std::optional<double>> trained;  // by panel; nothing if its runs differ
};

Axis read_axis(const std::string& name, std::span<const ResultRow> rows, const Options& options) {
  Axis axis{.name = name,
            .metric = options.text("metric"),
            .cells = sort_into_cells(rows, {.panels = options.texts("panels"), .points = {}}),
            .curves = {},
            .values = {},
            .trained = {}};
  std::vector<std::set<double>> trained(axis.cells.panels.size());
  for (const Cell& cell : axis.cells.cells) {
    Curve curve{&cell, generalisation_summary(cell.rows, axis.metric, options.real("threshold"))};
    for (const auto& [value, summary] : curve.points) axis.values.insert(value);
    for (const ResultRow* row : cell.rows)
      if (const auto most = trained_up_to(*row, name)) trained[cell.panel].insert(*most);
    axis.curves.push_back(std::move(curve));
  }
  for (const auto& ranges : trained)
    axis.trained.push_back(ranges.size() == 1 ? std::optional(*ranges.begin()) : std::nullopt);
  return axis;
}

// Rows by the axis that they were tested along. Those that never got so far and do not say count for all.
std::map<std::string, std::vector<ResultRow>> by_axis(std::span<const ResultRow> rows) {
  std::map<std::string, std::vector<ResultRow>> groups;
  std::vector<ResultRow> undecided;
  for (const ResultRow& row : rows) {
    const std::string axis = generalisation_axis(row);
    (axis.empty() ? undecided : groups[axis]).push_back(row);
  }
  for (auto& [axis, members] : groups) members.insert(members.end(), undecided.begin(), undecided.end());
  return groups;
}

Json datasets(const Axis& axis, std::span<const study::PaperValue> paper) {
  Json means = Json::array();
  Json stars = Json::array();
  for (const Curve& curve : axis.curves)
    for (const auto& [value, summary] : curve.points) {
      Json datum = {{"panel", curve.cell->panel}, {"series", curve.cell->series}, {"value", value}};
      const study::PaperValue* said =
          study::find_paper_value(paper, curve.cell->rows.front()->config, value, axis.metric);
      if (said && said->value) {
        stars.push_back(datum);
        stars.back()["mean"] = 100 * *said->value;
      }
      datum.update({{"mean", 100 * summary.mean},
                    {"min", 100 * summary.min},
                    {"max", 100 * summary.max},
                    {"summary", summary_text(summary)}});
      means.push_back(std::move(datum));
    }
  return {{"means", means}, {"paper", stars}};
}

// All that was tested and where training ended.
Json range_of(const Axis& axis) {
  double lo = *axis.values.begin(), hi = *axis.values.rbegin();
  for (const auto& trained : axis.trained) {
    lo = std::min(lo, trained.value_or(lo));
    hi = std::max(hi, trained.value_or(hi));
  }
  return {lo, hi};
}

// The axis along which was tested, on a logarithmic scale where the figure asks for one.
Json x_of(const Axis& axis, bool logarithmic) {
  const Json range = range_of(axis);
  if (!logarithmic || range[0].get<double>() <= 0)
    return field("value", "quantitative",
                 {{"scale", {{"domain", range}, {"nice", false}, {"padding", 8}}}, {"axis", {{"title", axis.name}}}});
  const LogAxis log = log_axis({range[0].get<double>(), range[1].get<double>()}, axis.name, "~s");
  return field("value", "quantitative", {{"scale", log.scale}, {"axis", log.axis}});
}

Json panel_of(const Axis& axis, std::size_t panel, const Options& options, bool with_paper) {
  const PanelSize size = panel_size(axis.cells.panels.size());
  const double threshold = options.real("threshold");
  const Json x = x_of(axis, options.text("scale") == "log");
  const std::string title = axis.metric == "accuracy" ? "Accuracy (%)" : "Exact match (%)";
  const auto y = [&](const char* name) { return percent_axis(name, title); };
  const Json tip = tooltip({{"series", "model"}, {"value", "value"}, {"summary", "%"}});
  const CurveLayers curves = curve_layers("means", panel, axis.cells.series, x, y, tip);
  Json layers = Json::array();
  layers.push_back(curves.band);
  add_level(layers, threshold, fmt::format("{:.0f} %", 100 * threshold), {1, 3}, size.width + 5);
  if (axis.trained[panel]) layers.push_back(vertical_rules({*axis.trained[panel]}, x, kInk));
  layers.push_back(curves.line);
  layers.push_back(curves.points);
  if (with_paper) layers.push_back(paper_stars(panel, x, y("mean"), series_encoding(axis.cells.series).color));
  return {{"width", size.width}, {"height", size.height}, {"layer", layers}};
}

Json figure_of(const Axis& axis, const FigureSubject& subject, const Options& options, const std::string& setup) {
  const Json data = datasets(axis, subject.paper);
  const bool with_paper = !data["paper"].empty();
  std::vector<std::string> lines{setup, counts_text(axis.cells.counts, "per point", subject.scale),
                                 "line: mean; band: min to max; dashed: end of the training range"};
  if (with_paper) lines.back() += "; star: the paper";
  Json figure = figure_head(figure_title(subject, options), lines, axis.cells.panels.size());
  figure["datasets"] = data;
  std::vector<Json> panels;
  for (std::size_t i = 0; i < axis.cells.panels.size(); ++i) panels.push_back(panel_of(axis, i, options, with_paper));
  add_panels(figure, std::move(panels), axis.cells.panels);
  return figure;
}

// One line per series, one column per value of the axis.
Table table_of(const Axis& axis) {
  std::vector<TablePart> parts;
  for (const std::string& panel : axis.cells.panels) {
    parts.push_back(
        {panel, {.columns = {{"model"}, {"rate", Align::right}, {"trained to", Align::right}}, .rows = {}}});
    for (const double value : axis.values)
      parts.back().table.columns.push_back({fmt::format("{} {}", axis.name, value), Align::right});
  }
  for (const Curve& curve : axis.curves) {
    const auto& trained = axis.trained[curve.cell->panel];
    std::vector<std::string> row{curve.cell->series, format_rate(curve.cell->chosen().rate),
                                 trained ? fmt::format("{}", *trained) : "-"};
    for (const double value : axis.values) {
      const auto found = curve.points.find(value);
      row.push_back(found == curve.points.end() ? "-" : mean_and_error(found->second));
    }
    parts[curve.cell->panel].table.rows.push_back(std::move(row));
  }
  return stacked("panel", parts);
}

Records axis_records(const Axis& axis) {
  Records records;
  for (const Curve& curve : axis.curves)
    for (const auto& [value, summary] : curve.points) {
      const auto& trained = axis.trained[curve.cell->panel];
      Record& record = records.emplace_back();
      record = {{"panel", axis.cells.panels[curve.cell->panel]},
                {"series", curve.cell->series},
                {"lr", curve.cell->chosen().rate},
                {"trained_to", trained ? Record(*trained) : Record()},
                {axis.name, value},
                {"seeds", summary.n}};
      add_score(record, axis.metric, summary);
    }
  return records;
}

// How far a series holds: the largest value up to which, from the first one on, its mean is at the threshold.
std::string finding(const Axis& axis, const Curve& curve, double threshold) {
  std::optional<double> reached;
  for (const auto& [value, summary] : curve.points) {
    if (summary.mean < threshold) break;
    reached = value;
  }
  const std::string& panel = axis.cells.panels[curve.cell->panel];
  const std::string label = panel.empty() ? curve.cell->series : fmt::format("{}, {}", panel, curve.cell->series);
  if (!reached) return fmt::format("{}: below {:.0f} % from the first {} on", label, 100 * threshold, axis.name);
  return fmt::format("{}: at {:.0f} % or more up to {} {}", label, 100 * threshold, axis.name, *reached);
}

Json json_of(const Axis& axis) {
  Json curves = Json::array();
  for (const Curve& curve : axis.curves) {
    Json points = Json::array();
    for (const auto& [value, summary] : curve.points)
      points.push_back({{"value", value}, {"score", statistics_json(summary)}});
    const auto& trained = axis.trained[curve.cell->panel];
    curves.push_back({{"panel", axis.cells.panels[curve.cell->panel]},
                      {"label", curve.cell->series},
                      {"lr", curve.cell->chosen().rate},
                      {"trained_to", trained ? Json(*trained) : Json()},
                      {"points", points}});
  }
  return {{"axis", axis.name}, {"metric", axis.metric}, {"curves", curves}};
}

FigureReport build_extrapolation(std::span<const ResultRow> rows, const FigureSubject& subject,
                                 const Options& options) {
  FigureReport report;
  report.data["axes"] = Json::array();
  for (const auto& [name, members] : by_axis(rows)) {
    const Axis axis = read_axis(name, members, options);
    if (axis.values.empty()) continue;
    report.figures.push_back({fmt::format("{}-{}", subject.name, name),
                              figure_of(axis, subject, options, setup_line(members)),
                              fmt::format("Accuracy against {}; the dashed line is where training ended.", name)});
    report.tables.push_back({fmt::format("Extrapolation along {}", name), table_of(axis),
                             "In per cent over seeds: mean ± standard error.", false,
                             fmt::format("extrapolation-{}", name), axis_records(axis)});
    for (const Curve& curve : axis.curves) report.findings.push_back(finding(axis, curve, options.real("threshold")));
    report.data["axes"].push_back(json_of(axis));
  }
  if (report.figures.empty())
    report.figures.push_back(
        {subject.name,
         empty_figure(figure_title(subject, options), {setup_line(rows)}, "no run was tested beyond its training"),
         "No run of this study was tested beyond its training range ([test] along)."});
  return report;
}

}  // namespace

FigureKind extrapolation_kind() {
  return {.name = "extrapolation",
          .summary = "accuracy against the value of a generalisation axis, the training range marked",
          .options = {title_field(), threshold_field("accuracy that counts as solved: a dotted line"),
                      panels_field({"task.name", "model.layers"}),
                      choice_field("metric", "accuracy", {"accuracy", "exact_match"}, "what is drawn"),
                      choice_field("scale", "linear", {"linear", "log"}, "of the axis")},
          .build = build_extrapolation};
}

}  // namespace mneme::report
