#include "report/figures/figure_accuracy_width.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "core/error.h"
#include "report/figures/figure_style.h"
#include "report/figures/spec.h"
#include "report/stats/cells.h"
#include "report/stats/format.h"

namespace mneme::report {
namespace {

constexpr double kNearMark = 0.13;  // decades: half a step of 13 rates over three decades

double number_of(const Cell& cell, const std::string& path) {
  if (!cell.point.front().is_number() || !(cell.point.front().get<double>() > 0))
    throw Error(ErrorKind::data, fmt::format("run {}", cell.rows.front()->run),
                fmt::format("{} of its config, got {}, expected a positive number", path, cell.point.front().dump()));
  return cell.point.front().get<double>();
}

Json point_datum(const Cell& cell, double x, const RatePoint& point) {
  return {{"panel", cell.panel},
          {"series", cell.series},
          {"x", x},
          {"mean", 100 * point.test.mean},
          {"min", 100 * point.test.min},
          {"max", 100 * point.test.max},
          {"rate", format_rate(point.rate)},
          {"summary", summary_text(point.test)}};
}

Json datasets(const Cells& cells, const FigureSubject& subject, const Options& options) {
  Json best = Json::array(), marked = Json::array(), stars = Json::array();
  for (const Cell& cell : cells.cells) {
    const double x = number_of(cell, options.text("x"));
    best.push_back(point_datum(cell, x, cell.chosen()));
    if (const auto at = best_marked_rate(cell.rates, options.reals("marks")))
      marked.push_back(point_datum(cell, x, cell.rates[*at]));
    const study::PaperValue* said = study::find_paper_value(subject.paper, cell.rows.front()->config);
    if (said && said->value)
      stars.push_back({{"panel", cell.panel}, {"series", cell.series}, {"x", x}, {"mean", 100 * *said->value}});
  }
  return {{"best", best}, {"marked", marked}, {"paper", stars}};
}

// Widths are powers of two more often than not: ticks at the values themselves.
Json x_axis(const Json& data, const std::string& path) {
  std::set<double> values;
  for (const Json& datum : data) values.insert(datum["x"].get<double>());
  const double margin = values.size() == 1 ? 2 : std::pow(*values.rbegin() / *values.begin(), 0.06);
  const std::string title = path.substr(path.rfind('.') + 1);
  return field("x", "quantitative",
               {{"scale",
                 {{"type", "log"},
                  {"base", 2},
                  {"domain", {*values.begin() / margin, *values.rbegin() * margin}},
                  {"nice", false}}},
                {"axis", {{"title", title}, {"values", Json(values)}, {"format", "d"}, {"labelOverlap", true}}}});
}

Json panel_of(const Cells& cells, std::size_t panel, const Json& data, const Json& x) {
  const PanelSize size = panel_size(cells.panels.size());
  const Json color = series_encoding(cells.series).color;
  const auto y = [](const char* name) { return percent_axis(name, "Test accuracy (%)"); };
  const Json tip = tooltip({{"series", "model"}, {"x", "width"}, {"rate", "learning rate"}, {"summary", "test %"}});
  const CurveLayers curves = curve_layers("best", panel, cells.series, x, y, tip);
  Json layers = Json::array();
  layers.push_back(curves.band);
  if (!data["marked"].empty())
    layers.push_back({{"data", dataset("marked")},
                      {"transform", only_panel(panel)},
                      {"mark", {{"type", "line"}, {"strokeWidth", 1.6}, {"strokeDash", {2, 3}}}},
                      {"encoding", {{"x", x}, {"y", y("mean")}, {"color", color}}}});
  layers.push_back(curves.line);
  layers.push_back(curves.points);
  if (!data["paper"].empty()) layers.push_back(paper_stars(panel, x, y("mean"), color));
  return {{"width", size.width}, {"height", size.height}, {"layer", layers}};
}

Json figure_of(const Cells& cells, const FigureSubject& subject, const Options& options, const std::string& setup) {
  const Json data = datasets(cells, subject, options);
  std::string key = "line: mean at the best rate; band: min to max";
  if (!data["marked"].empty()) key += "; dotted: only the rates of a coarser grid";
  if (!data["paper"].empty()) key += "; star: the paper";
  const std::vector<std::string> lines{setup, counts_text(cells.counts, "per point", subject.scale), key};
  const std::string title = figure_title(subject, options);
  if (cells.cells.empty()) return empty_figure(title, lines, "no runs yet");
  Json figure = figure_head(title, lines, cells.panels.size());
  figure["datasets"] = data;
  const Json x = x_axis(data["best"], options.text("x"));
  std::vector<Json> panels;
  for (std::size_t i = 0; i < cells.panels.size(); ++i) panels.push_back(panel_of(cells, i, data, x));
  add_panels(figure, std::move(panels), cells.panels);
  return figure;
}

Table table_of(const Cells& cells, const FigureSubject& subject, const Options& options) {
  const std::string& path = options.text("x");
  const std::vector<double> marks = options.reals("marks");
  Table empty{.columns = {{"model"},
                          {path.substr(path.rfind('.') + 1), Align::right},
                          {"best rate", Align::right},
                          {"test %", Align::right},
                          {"95 % interval", Align::right}},
              .rows = {}};
  if (!marks.empty()) {
    empty.columns.push_back({"coarse rate", Align::right});
    empty.columns.push_back({"coarse test %", Align::right});
  }
  if (!subject.paper.empty()) empty.columns.push_back({"paper", Align::right});
  std::vector<TablePart> parts;
  for (const std::string& panel : cells.panels) parts.push_back({panel, empty});
  for (const Cell& cell : cells.cells) {
    std::vector<std::string> row{cell.series, fmt::format("{}", number_of(cell, path)), format_rate(cell.chosen().rate),
                                 mean_and_error(cell.chosen().test), interval_text(cell.chosen().test)};
    if (!marks.empty()) {
      const auto at = best_marked_rate(cell.rates, marks);
      row.push_back(at ? format_rate(cell.rates[*at].rate) : "-");
      row.push_back(at ? mean_and_error(cell.rates[*at].test) : "-");
    }
    const study::PaperValue* said = study::find_paper_value(subject.paper, cell.rows.front()->config);
    if (!subject.paper.empty()) row.push_back(said ? said->shown() : "");
    parts[cell.panel].table.rows.push_back(std::move(row));
  }
  return parts.empty() ? empty : stacked("panel", parts);
}

Records width_records(const Cells& cells, const FigureSubject& subject, const Options& options) {
  const std::string& path = options.text("x");
  Records records;
  for (const Cell& cell : cells.cells) {
    Record& record = records.emplace_back();
    record = {{"panel", cells.panels[cell.panel]},
              {"series", cell.series},
              {path.substr(path.rfind('.') + 1), number_of(cell, path)},
              {"best_lr", cell.chosen().rate},
              {"seeds", cell.chosen().test.n}};
    add_score(record, "test_score", cell.chosen().test);
    if (const auto at = best_marked_rate(cell.rates, options.reals("marks"))) {
      record["coarse_lr"] = cell.rates[*at].rate;
      add_score(record, "coarse_test_score", cell.rates[*at].test);
    }
    if (const auto* said = study::find_paper_value(subject.paper, cell.rows.front()->config))
      record["paper"] = said->shown();
  }
  return records;
}

FigureReport build_accuracy_width(std::span<const ResultRow> rows, const FigureSubject& subject,
                                  const Options& options) {
  const Cells cells = sort_into_cells(rows, {.panels = options.texts("panels"), .points = {options.text("x")}});
  FigureReport report;
  report.figures.push_back({subject.name, figure_of(cells, subject, options, setup_line(rows)),
                            "Test accuracy at the rate that is best on validation."});
  report.tables.push_back({"Accuracy by width", table_of(cells, subject, options),
                           "In per cent over seeds: mean ± standard error.", false, "accuracy-width",
                           width_records(cells, subject, options)});
  Json points = Json::array();
  for (const Cell& cell : cells.cells) {
    const auto at = best_marked_rate(cell.rates, options.reals("marks"));
    points.push_back({{"panel", cells.panels[cell.panel]},
                      {"label", cell.series},
                      {"x", number_of(cell, options.text("x"))},
                      {"lr", cell.chosen().rate},
                      {"test", statistics_json(cell.chosen().test)},
                      {"coarse_lr", at ? Json(cell.rates[*at].rate) : Json()},
                      {"coarse_test", at ? statistics_json(cell.rates[*at].test) : Json()}});
  }
  report.data = {{"points", points}};
  return report;
}

}  // namespace

std::optional<std::size_t> best_marked_rate(const std::vector<RatePoint>& points, const std::vector<double>& marks) {
  std::vector<std::size_t> standing;
  const auto distance = [](const RatePoint& point, double mark) { return std::abs(std::log10(point.rate / mark)); };
  for (const double mark : marks) {
    const auto nearest = std::min_element(points.begin(), points.end(), [&](const RatePoint& a, const RatePoint& b) {
      return distance(a, mark) < distance(b, mark);
    });
    if (nearest != points.end() && distance(*nearest, mark) < kNearMark)
      standing.push_back(static_cast<std::size_t>(nearest - points.begin()));
  }
  if (standing.empty()) return std::nullopt;
  std::sort(standing.begin(), standing.end());
  return *std::max_element(standing.begin(), standing.end(), [&](std::size_t a, std::size_t b) {
    return points[a].validation.mean < points[b].validation.mean;
  });
}

FigureKind accuracy_width_kind() {
  return {.name = "accuracy-width",
          .summary = "test accuracy at the best rate against width, a panel for each length",
          .options = {title_field(), text_field("x", "model.width", "the field on the horizontal axis"),
                      panels_field({"task.length"}), marks_field()},
          .build = build_accuracy_width};
}

}  // namespace mneme::report
