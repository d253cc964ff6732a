#include "report/figures/figure_dynamics.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "report/figures/dynamics_data.h"
#include "report/figures/figure_style.h"
#include "report/figures/spec.h"

namespace mneme::report {
namespace {

// name, name_min, name_max over the runs of a cell that have the step.
void add_range(Json& datum, const char* name, const std::vector<double>& values, double factor) {
  if (values.empty()) return;
  const Summary summary = summarize(values, 0);
  datum[name] = factor * summary.mean;
  datum[fmt::format("{}_min", name)] = factor * summary.min;
  datum[fmt::format("{}_max", name)] = factor * summary.max;
}

Json datasets(const Dynamics& dynamics) {
  Json curves = Json::array(), bumps = Json::array();
  for (std::size_t i = 0; i < dynamics.cells.cells.size(); ++i) {
    const Cell& cell = dynamics.cells.cells[i];
    std::map<std::int64_t, std::array<std::vector<double>, 3>> steps;
    for (const ResultRow* row : cell.rows)
      for (const MetricPoint& point : row->metrics) {
        const std::array values{point.train_loss, point.loss, point.accuracy};
        for (std::size_t k = 0; k < values.size(); ++k)
          if (std::isfinite(values[k])) steps[point.step][k].push_back(values[k]);
      }
    for (const auto& [step, values] : steps) {
      Json datum = {{"panel", cell.panel}, {"series", cell.series}, {"step", step}, {"n", values[2].size()}};
      add_range(datum, "train_loss", values[0], 1);
      add_range(datum, "loss", values[1], 1);
      add_range(datum, "accuracy", values[2], 100);
      curves.push_back(std::move(datum));
    }
    for (const RunDrops& run : dynamics.drops[i])
      for (const LossDrop& drop : run.drops)
        if (drop.bump)
          bumps.push_back({{"panel", cell.panel},
                           {"series", cell.series},
                           {"from", drop.from},
                           {"to", drop.to},
                           {"text", fmt::format("{:.3g} to {:.3g}", drop.loss_from, drop.loss_to)},
                           {"run", run.row->run}});
  }
  return {{"curves", curves}, {"bumps", bumps}};
}

Json curve_layer(std::size_t panel, const char* name, const Json& x, const Json& y, const Json& color, double opacity) {
  Json value = y;
  value["field"] = name;
  return {{"data", dataset("curves")},
          {"transform", only_panel(panel, fmt::format("isValid(datum.{})", name))},
          {"mark", {{"type", "line"}, {"strokeWidth", 2}, {"opacity", opacity}}},
          {"encoding", {{"x", x}, {"y", value}, {"color", color}}}};
}

Json band_layer(std::size_t panel, const std::string& name, const Json& x, const Json& y, const Json& color) {
  Json low = y;
  low["field"] = name + "_min";
  return {{"data", dataset("curves")},
          {"transform", only_panel(panel, fmt::format("isValid(datum.{})", name))},
          {"mark", {{"type", "area"}, {"opacity", 0.14}}},
          {"encoding", {{"x", x}, {"y", low}, {"y2", {{"field", name + "_max"}}}, {"color", color}}}};
}

// Rates have an order, and so have their colours.
Json color_of(const Dynamics& dynamics) {
  Json color = series_encoding(dynamics.cells.series).color;
  if (dynamics.all_rates) {
    color["scale"] = {{"domain", dynamics.cells.series},
                      {"scheme", {{"name", "viridis"}, {"extent", Json::array({0, 0.9})}}}};
    color["legend"]["title"] = "Learning rate";
  }
  return color;
}

Json panel_of(const Dynamics& dynamics, std::size_t panel, double threshold, std::int64_t last_step) {
  const PanelSize size = panel_size(dynamics.cells.panels.size());
  const Json color = color_of(dynamics);
  const auto x = [&](const char* title) {
    const Json axis = {{"title", title == nullptr ? Json() : Json(title)},
                       {"labels", title != nullptr},
                       {"format", ",d"},
                       {"tickCount", 5}};
    return field("step", "quantitative", {{"scale", {{"domain", {0, last_step}}, {"nice", false}}}, {"axis", axis}});
  };
  const Json loss = field("loss", "quantitative", {{"scale", {{"zero", true}}}, {"axis", {{"title", "Loss"}}}});
  const Json accuracy = percent_axis("accuracy", "Accuracy (%)");
  Json upper = Json::array(), lower = Json::array();
  if (dynamics.has_bump) {
    Json from = x(nullptr);
    from["field"] = "from";
    upper.push_back({{"data", dataset("bumps")},
                     {"transform", only_panel(panel)},
                     {"mark", {{"type", "rect"}, {"opacity", 0.09}}},
                     {"encoding",
                      {{"x", from},
                       {"x2", {{"field", "to"}}},
                       {"color", color},
                       {"tooltip", tooltip({{"series", "model"},
                                            {"from", "from step"},
                                            {"to", "to step"},
                                            {"text", "validation loss"},
                                            {"run", "run"}})}}}});
  }
  upper.push_back(band_layer(panel, "loss", x(nullptr), loss, color));
  upper.push_back(curve_layer(panel, "train_loss", x(nullptr), loss, color, 0.4));
  upper.push_back(curve_layer(panel, "loss", x(nullptr), loss, color, 1));
  lower.push_back(band_layer(panel, "accuracy", x("Step"), accuracy, color));
  add_level(lower, threshold, fmt::format("{:.0f} %", 100 * threshold), {1, 3}, size.width + 5);
  lower.push_back(curve_layer(panel, "accuracy", x("Step"), accuracy, color, 1));
  const int height = size.height * 3 / 4;
  return {{"vconcat",
           {{{"width", size.width}, {"height", height}, {"layer", upper}},
            {{"width", size.width}, {"height", height}, {"layer", lower}}}},
          {"spacing", 8}};
}

Json figure_of(const Dynamics& dynamics, const FigureSubject& subject, const Options& options,
               const std::string& setup) {
  const Json data = datasets(dynamics);
  std::string key = "validation: mean and min to max; faint: training loss";
  if (dynamics.has_bump) key += "; shaded: the validation loss of a run drops without accuracy";
  const std::vector<std::string> lines{setup, counts_text(dynamics.cells.counts, "per line", subject.scale), key};
  const std::string title = figure_title(subject, options);
  if (data["curves"].empty()) return empty_figure(title, lines, "no evaluations yet");
  Json figure = figure_head(title, lines, dynamics.cells.panels.size());
  figure["datasets"] = data;
  std::int64_t last_step = 1;
  for (const Json& datum : data["curves"]) last_step = std::max(last_step, datum["step"].get<std::int64_t>());
  std::vector<Json> panels;
  for (std::size_t i = 0; i < dynamics.cells.panels.size(); ++i)
    panels.push_back(panel_of(dynamics, i, options.real("threshold"), last_step));
  add_panels(figure, std::move(panels), dynamics.cells.panels);
  return figure;
}

FigureReport build_dynamics(std::span<const ResultRow> rows, const FigureSubject& subject, const Options& options) {
  const Dynamics dynamics = read_dynamics(rows, options);
  FigureReport report;
  report.figures.push_back({subject.name, figure_of(dynamics, subject, options, setup_line(rows)),
                            dynamics.all_rates
                                ? "Loss and accuracy during training, at every rate."
                                : "Loss and accuracy during training, at the rate that is best on validation."});
  report.tables.push_back({"Training dynamics", dynamics_table(dynamics, options), drop_text(options) + ".", false,
                           "dynamics", dynamics_records(dynamics, options)});
  report.rules.emplace_back("Drop", drop_text(options));
  report.data["series"] = Json::array();
  for (std::size_t i = 0; i < dynamics.cells.cells.size(); ++i) {
    const Cell& cell = dynamics.cells.cells[i];
    const std::string& panel = dynamics.cells.panels[cell.panel];
    Json drops = Json::array();
    std::size_t with_bump = 0;
    for (const RunDrops& run : dynamics.drops[i]) {
      with_bump += std::any_of(run.drops.begin(), run.drops.end(), [](const LossDrop& drop) { return drop.bump; });
      for (const LossDrop& drop : run.drops)
        drops.push_back({{"run", run.row->run},
                         {"from", drop.from},
                         {"to", drop.to},
                         {"loss_from", drop.loss_from},
                         {"loss_to", drop.loss_to},
                         {"gain", drop.gain},
                         {"bump", drop.bump}});
    }
    if (with_bump > 0)
      report.findings.push_back(
          fmt::format("{}{}: after a plateau the validation loss drops without accuracy in {} of {} runs",
                      panel.empty() ? "" : panel + ", ", cell.series, with_bump, cell.rows.size()));
    report.data["series"].push_back(
        {{"panel", panel}, {"label", cell.series}, {"lr", cell.chosen().rate}, {"drops", drops}});
  }
  return report;
}

}  // namespace

FigureKind dynamics_kind() {
  const LossDropRule rule;
  return {
      .name = "dynamics",
      .summary = "loss and accuracy against training step, drops of the loss without accuracy marked",
      .options = {title_field(), threshold_field("accuracy that counts as solved: a dotted line"),
                  panels_field({"task.name", "task.length", "model.layers"}),
                  choice_field(
                      "rates", "best", {"best", "all"},
                      "best: the rate that is best on validation; all: one line per rate, one panel per model"),
                  real_field("flat", rule.flat, 0.0, 1.0, "relative change of the loss that still counts as a plateau"),
                  real_field("depth", rule.depth, 0.0, 1.0, "relative fall of the loss that counts as a drop"),
                  real_field("gain", rule.gain, 0.0, 1.0, "accuracy from which a drop came with accuracy")},
      .build = build_dynamics};
}

}  // namespace mneme::report
