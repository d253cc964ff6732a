#include "report/figures/figure_width_depth.h"

#include <fmt/format.h>

#include <set>

#include "core/error.h"
#include "core/text.h"
#include "report/figures/figure_style.h"
#include "report/figures/spec.h"
#include "report/stats/cells.h"
#include "report/stats/format.h"

namespace mneme::report {
namespace {

const std::vector<std::string> kSizes = {"model.width", "model.layers"};

double parameters_of(const Cell& cell) {
  for (const ResultRow* row : cell.rows) {
    const auto found = row->values.find("parameters");
    if (found == row->values.end()) continue;
    if (!found->is_number() || !(found->get<double>() > 0))
      throw Error(ErrorKind::data, fmt::format("run {}", row->run),
                  fmt::format("parameters of its summary, got {}, expected a positive number", found->dump()));
    return found->get<double>();
  }
  throw Error(ErrorKind::data, fmt::format("run {}", cell.rows.front()->run),
              "its summary has no parameters, expected their number");
}

std::string depth_of(const Cell& cell) { return field_text(kSizes[1], cell.point[1]); }

Json datasets(const Cells& cells) {
  Json points = Json::array();
  for (const Cell& cell : cells.cells)
    points.push_back({{"panel", cell.panel},
                      {"series", cell.series},
                      {"width", cell.point[0]},
                      {"depth", depth_of(cell)},
                      {"parameters", parameters_of(cell)},
                      {"mean", 100 * cell.chosen().test.mean},
                      {"min", 100 * cell.chosen().test.min},
                      {"max", 100 * cell.chosen().test.max},
                      {"rate", format_rate(cell.chosen().rate)},
                      {"summary", summary_text(cell.chosen().test)}});
  return {{"points", points}};
}

Json panel_of(const Cells& cells, std::size_t panel, const LogAxis& parameters, const std::vector<std::string>& depths,
              const std::string& score) {
  const PanelSize size = panel_size(cells.panels.size());
  const Json x = field("parameters", "quantitative", {{"scale", parameters.scale}, {"axis", parameters.axis}});
  const auto y = [&](const char* name) { return percent_axis(name, score); };
  const Json color = series_encoding(cells.series).color;
  const Json shape = field("depth", "nominal",
                           {{"scale", shape_scale(depths)},
                            {"legend", {{"title", nullptr}, {"symbolFillColor", kInk}, {"symbolStrokeColor", kInk}}}});
  const Json tip = tooltip({{"series", "model"},
                            {"width", "width"},
                            {"depth", "depth"},
                            {"parameters", "parameters"},
                            {"rate", "learning rate"},
                            {"summary", "test %"}});
  Json layers = Json::array();
  layers.push_back({{"mark", {{"type", "rule"}, {"opacity", 0.45}}},
                    {"encoding", {{"x", x}, {"y", y("min")}, {"y2", {{"field", "max"}}}, {"color", color}}}});
  layers.push_back(
      {{"mark", {{"type", "line"}, {"strokeWidth", 1.2}, {"opacity", 0.7}}},
       {"encoding", {{"x", x}, {"y", y("mean")}, {"color", color}, {"detail", field("depth", "nominal")}}}});
  layers.push_back({{"mark", {{"type", "point"}, {"filled", true}, {"opacity", 1}, {"size", 75}}},
                    {"encoding", {{"x", x}, {"y", y("mean")}, {"color", color}, {"shape", shape}, {"tooltip", tip}}}});
  layers.push_back({{"mark", {{"type", "text"}, {"fontSize", 9}, {"dy", -10}}},
                    {"encoding", {{"x", x}, {"y", y("mean")}, {"text", field("width", "nominal")}, {"color", color}}}});
  return {{"data", dataset("points")},
          {"transform", only_panel(panel)},
          {"width", size.width},
          {"height", size.height},
          {"layer", layers}};
}

Json figure_of(const Cells& cells, const FigureSubject& subject, const Options& options, const std::string& setup,
               const std::string& score) {
  const std::vector<std::string> lines{setup, counts_text(cells.counts, "per point", subject.scale),
                                       "symbol: mean at the best rate; bar: min to max; number: width"};
  const std::string title = figure_title(subject, options);
  if (cells.cells.empty()) return empty_figure(title, lines, "no runs yet");
  std::vector<double> sizes;
  std::set<Json> layers;
  for (const Cell& cell : cells.cells) {
    sizes.push_back(parameters_of(cell));
    layers.insert(cell.point[1]);
  }
  std::vector<std::string> depths;
  for (const Json& depth : layers) depths.push_back(field_text(kSizes[1], depth));
  const LogAxis parameters = log_axis(sizes, "Parameters", "~s");
  Json figure = figure_head(title, lines, cells.panels.size());
  figure["datasets"] = datasets(cells);
  std::vector<Json> panels;
  for (std::size_t i = 0; i < cells.panels.size(); ++i) panels.push_back(panel_of(cells, i, parameters, depths, score));
  add_panels(figure, std::move(panels), cells.panels);
  return figure;
}

Table table_of(const Cells& cells, const FigureSubject& subject) {
  Table empty{.columns = {{"model"},
                          {"layers", Align::right},
                          {"width", Align::right},
                          {"parameters", Align::right},
                          {"best rate", Align::right},
                          {"test %", Align::right},
                          {"95 % interval", Align::right},
                          {"seeds", Align::right}},
              .rows = {}};
  if (!subject.paper.empty()) empty.columns.push_back({"paper", Align::right});
  std::vector<TablePart> parts;
  for (const std::string& panel : cells.panels) parts.push_back({panel, empty});
  for (const Cell& cell : cells.cells) {
    std::vector<std::string> row{cell.series,
                                 cell.point[1].dump(),
                                 cell.point[0].dump(),
                                 grouped(static_cast<std::int64_t>(parameters_of(cell))),
                                 format_rate(cell.chosen().rate),
                                 mean_and_error(cell.chosen().test),
                                 interval_text(cell.chosen().test),
                                 std::to_string(cell.rows.size())};
    const study::PaperValue* said = study::find_paper_value(subject.paper, cell.rows.front()->config);
    if (!subject.paper.empty()) row.push_back(said ? said->shown() : "");
    parts[cell.panel].table.rows.push_back(std::move(row));
  }
  return parts.empty() ? empty : stacked("panel", parts);
}

Records size_records(const Cells& cells, const FigureSubject& subject) {
  Records records;
  for (const Cell& cell : cells.cells) {
    Record& record = records.emplace_back();
    record = {{"panel", cells.panels[cell.panel]}, {"series", cell.series},
              {"layers", cell.point[1]},           {"width", cell.point[0]},
              {"parameters", parameters_of(cell)}, {"best_lr", cell.chosen().rate},
              {"seeds", cell.rows.size()}};
    add_score(record, "test_score", cell.chosen().test);
    if (const auto* said = study::find_paper_value(subject.paper, cell.rows.front()->config))
      record["paper"] = said->shown();
  }
  return records;
}

FigureReport build_width_depth(std::span<const ResultRow> rows, const FigureSubject& subject, const Options& options) {
  const Cells cells = sort_into_cells(rows, {.panels = options.texts("panels"), .points = kSizes});
  FigureReport report;
  report.figures.push_back({subject.name,
                            figure_of(cells, subject, options, setup_line(rows), score_axis(score_name(rows))),
                            "Test score against the number of parameters; widths of one depth are joined."});
  report.tables.push_back({"Width and depth", table_of(cells, subject),
                           "In per cent over seeds: mean ± standard error.", false, "width-depth",
                           size_records(cells, subject)});
  Json points = Json::array();
  for (const Cell& cell : cells.cells)
    points.push_back({{"panel", cells.panels[cell.panel]},
                      {"label", cell.series},
                      {"width", cell.point[0]},
                      {"layers", cell.point[1]},
                      {"parameters", parameters_of(cell)},
                      {"lr", cell.chosen().rate},
                      {"test", statistics_json(cell.chosen().test)}});
  report.data = {{"points", points}};
  return report;
}

}  // namespace

FigureKind width_depth_kind() {
  return {.name = "width-depth",
          .summary = "test accuracy against parameters, for every width and depth",
          .options = {title_field(), panels_field({"task.length"})},
          .build = build_width_depth};
}

}  // namespace mneme::report
