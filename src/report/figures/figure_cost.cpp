#include "report/figures/figure_cost.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/figures/figure_style.h"
#include "report/figures/spec.h"
#include "report/stats/cells.h"
#include "report/stats/curves.h"
#include "report/stats/format.h"

namespace mneme::report {
namespace {

// Two levels are shown one under the other: what it takes to solve the task, and to master it.
constexpr double kLevels[] = {0.9, 0.99};

double median_cost(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t n = values.size();
  return (values[(n - 1) / 2] + values[n / 2]) / 2;
}

// Every rate of a cell, not only the best: the cell's own rows are those of one rate, so rates make points here.
Cells cost_cells(std::span<const ResultRow> rows, const Options& options) {
  return sort_into_cells(rows, {.panels = options.texts("panels"), .points = {"train.lr"}});
}

Json cost_datasets(const Cells& cells) {
  Json seeds = Json::array(), medians = Json::array();
  for (std::size_t level = 0; level < std::size(kLevels); ++level)
    for (const Cell& cell : cells.cells) {
      std::vector<double> all;
      bool every = true;
      for (const ResultRow* row : cell.rows) {
        if (!has_curve(*row) || row->tokens_per_step == 0) continue;
        const auto cost = tokens_until(*row, kLevels[level]);
        every &= cost.has_value();
        all.push_back(cost.value_or(budget_tokens(*row)));
        seeds.push_back({{"panel", cell.panel},
                         {"level", level},
                         {"series", cell.series},
                         {"rate", cell.chosen().rate},
                         {"rate_text", format_rate(cell.chosen().rate)},
                         {"tokens", all.back()},
                         {"tokens_text", fmt::format("{:.3g} million", all.back() / 1e6)},
                         {"solved", cost.has_value()},
                         {"seed", seed_text(*row)},
                         {"run", row->run}});
      }
      if (!all.empty() && every)
        medians.push_back({{"panel", cell.panel},
                           {"level", level},
                           {"series", cell.series},
                           {"rate", cell.chosen().rate},
                           {"tokens", median_cost(all)}});
    }
  return {{"seeds", seeds}, {"medians", medians}};
}

Json cost_plot(const Cells& cells, std::size_t panel, std::size_t level, const LogAxis& rate, const LogAxis& cost) {
  const PanelSize size = panel_size(cells.panels.size());
  const SeriesEncoding encoding = series_encoding(cells.series);
  Json rate_axis = rate.axis;
  if (level + 1 < std::size(kLevels)) {
    rate_axis["title"] = nullptr;
    rate_axis["labels"] = false;
  }
  Json cost_axis = cost.axis;
  cost_axis["title"] = fmt::format("Tokens to {:.0f} %", 100 * kLevels[level]);
  const Json x = field("rate", "quantitative", {{"scale", rate.scale}, {"axis", rate_axis}});
  const Json y = field("tokens", "quantitative", {{"scale", cost.scale}, {"axis", cost_axis}});
  const Json tip = tooltip({{"series", "model"},
                            {"rate_text", "learning rate"},
                            {"tokens_text", "tokens"},
                            {"seed", "seed"},
                            {"run", "run"}});
  const std::string here = fmt::format("datum.level === {}", level);
  Json layers = Json::array();
  layers.push_back({{"data", dataset("medians")},
                    {"transform", only_panel(panel, here)},
                    {"mark", {{"type", "line"}, {"strokeWidth", 2}}},
                    {"encoding", {{"x", x}, {"y", y}, {"color", encoding.color}}}});
  layers.push_back(
      {{"data", dataset("seeds")},
       {"transform", only_panel(panel, here + " && datum.solved")},
       {"mark", {{"type", "point"}, {"filled", true}, {"opacity", 0.8}, {"size", 40}}},
       {"encoding", {{"x", x}, {"y", y}, {"color", encoding.color}, {"shape", encoding.shape}, {"tooltip", tip}}}});
  // One row per model, downwards from the budget: crosses of several models at one rate would hide each other.
  constexpr int kRow = 9;
  for (std::size_t i = 0; i < cells.series.size(); ++i)
    layers.push_back({{"data", dataset("seeds")},
                      {"transform", only_panel(panel, fmt::format("{} && !datum.solved && datum.series === {}", here,
                                                                  Json(cells.series[i]).dump()))},
                      {"mark", {{"type", "text"}, {"text", "×"}, {"fontSize", 13}, {"dy", kRow * static_cast<int>(i)}}},
                      {"encoding", {{"x", x}, {"y", y}, {"color", encoding.color}, {"tooltip", tip}}}});
  return {{"width", size.width}, {"height", size.height * 3 / 4}, {"layer", layers}};
}

Json cost_figure(const Cells& cells, const FigureSubject& subject, const Options& options, const std::string& setup) {
  const Json data = cost_datasets(cells);
  const std::vector<std::string> lines{
      setup, counts_text(cells.counts, "per rate", subject.scale),
      "point: a seed; line: median where every seed got there; ×: not reached within the budget, one row per model"};
  const std::string title = figure_title(subject, options);
  if (data["seeds"].empty()) return empty_figure(title, lines, "no curves yet");
  std::vector<double> rates, tokens;
  for (const Json& datum : data["seeds"]) {
    rates.push_back(datum["rate"].get<double>());
    tokens.push_back(datum["tokens"].get<double>());
  }
  const LogAxis rate = log_axis(rates, "Learning rate"), cost = log_axis(tokens, "Tokens", ".0e");
  Json figure = figure_head(title, lines, cells.panels.size());
  figure["datasets"] = data;
  std::vector<Json> panels;
  for (std::size_t i = 0; i < cells.panels.size(); ++i)
    panels.push_back(
        {{"vconcat", {cost_plot(cells, i, 0, rate, cost), cost_plot(cells, i, 1, rate, cost)}}, {"spacing", 8}});
  add_panels(figure, std::move(panels), cells.panels);
  return figure;
}

std::string cost_text(const Cell& cell, double level) {
  std::vector<double> solved;
  std::size_t seeds = 0;
  for (const ResultRow* row : cell.rows) {
    if (!has_curve(*row) || row->tokens_per_step == 0) continue;
    ++seeds;
    if (const auto cost = tokens_until(*row, level)) solved.push_back(*cost);
  }
  if (solved.empty()) return seeds == 0 ? "-" : "none";
  const std::string text = fmt::format("{:.3g}", median_cost(solved) / 1e6);
  return solved.size() == seeds ? text : fmt::format("{} ({} of {})", text, solved.size(), seeds);
}

FigureReport build_cost(std::span<const ResultRow> rows, const FigureSubject& subject, const Options& options) {
  const Cells cells = cost_cells(rows, options);
  FigureReport report;
  report.figures.push_back({subject.name, cost_figure(cells, subject, options, setup_line(rows)),
                            "Tokens of training until validation accuracy first was at 90 % and at 99 %."});
  Table empty{.columns = {{"model"}, {"rate", Align::right}, {"to 90 %", Align::right}, {"to 99 %", Align::right}},
              .rows = {}};
  std::vector<TablePart> parts;
  for (const std::string& panel : cells.panels) parts.push_back({panel, empty});
  Json points = Json::array();
  Records records;
  for (const Cell& cell : cells.cells) {
    parts[cell.panel].table.rows.push_back(
        {cell.series, format_rate(cell.chosen().rate), cost_text(cell, kLevels[0]), cost_text(cell, kLevels[1])});
    Json tokens = Json::array();
    for (const ResultRow* row : cell.rows) {
      const auto solved = tokens_until(*row, kLevels[0]), mastered = tokens_until(*row, kLevels[1]);
      tokens.push_back({{"run", row->run},
                        {"to_90", solved ? Json(*solved) : Json()},
                        {"to_99", mastered ? Json(*mastered) : Json()},
                        {"budget", budget_tokens(*row)}});
      records.push_back({{"panel", cells.panels[cell.panel]},
                         {"series", cell.series},
                         {"lr", cell.chosen().rate},
                         {"seed", seed_text(*row)},
                         {"run", row->run},
                         {"tokens_to_90_percent", solved ? Record(*solved) : Record()},
                         {"tokens_to_99_percent", mastered ? Record(*mastered) : Record()},
                         {"budget_tokens", budget_tokens(*row)}});
    }
    points.push_back(
        {{"panel", cells.panels[cell.panel]}, {"label", cell.series}, {"lr", cell.chosen().rate}, {"seeds", tokens}});
  }
  report.tables.push_back({"Cost to solve", parts.empty() ? empty : stacked("panel", parts),
                           "Million tokens: the median of the seeds that got there.", cells.cells.size() > 40, "cost",
                           records});
  report.data = {{"points", points}};
  return report;
}

}  // namespace

FigureKind cost_kind() {
  return {.name = "cost-to-solve",
          .summary = "tokens of training until 90 % and 99 % validation accuracy, against learning rate",
          .options = {title_field(), panels_field({"task.length"})},
          .build = build_cost};
}

}  // namespace mneme::report
