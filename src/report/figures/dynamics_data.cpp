#include "report/figures/dynamics_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>

#include "core/text.h"
#include "report/stats/format.h"

namespace mneme::report {
namespace {

LossDropRule drop_rule(const Options& options) {
  return {.flat = options.real("flat"), .depth = options.real("depth"), .gain = options.real("gain")};
}

// Every rate with a name of its own, in their order.
std::map<double, std::string> rate_names(const Cells& cells) {
  std::map<double, std::string> names;
  std::set<std::string> taken;
  for (const Cell& cell : cells.cells) names[cell.chosen().rate];
  for (auto& [rate, name] : names) {
    name = format_rate(rate);
    if (!taken.insert(name).second) name = fmt::format("{}", rate);
  }
  return names;
}

// A panel for each model (and panel of before), in it a series for each rate.
void make_series_of_rates(Cells& cells) {
  const std::map<double, std::string> names = rate_names(cells);
  std::vector<std::string> panels;
  for (Cell& cell : cells.cells) {
    std::vector<std::string> parts;
    if (!cells.panels[cell.panel].empty()) parts.push_back(cells.panels[cell.panel]);
    if (cells.series.size() > 1) parts.push_back(cell.series);
    const std::string name = join(parts, ", ");
    if (panels.empty() || panels.back() != name) panels.push_back(name);
    cell.panel = panels.size() - 1;
    cell.series = names.at(cell.chosen().rate);
  }
  cells.panels = panels;
  cells.series.clear();
  for (const auto& [rate, name] : names) cells.series.push_back(name);
}

std::string steps_text(std::vector<std::int64_t> steps) {
  if (steps.empty()) return "-";
  std::sort(steps.begin(), steps.end());
  const std::string first = grouped(steps.front());
  return steps.front() == steps.back() ? first : fmt::format("{} to {}", first, grouped(steps.back()));
}

std::optional<std::int64_t> solved_at(const ResultRow& row, double threshold) {
  const auto first = std::find_if(row.metrics.begin(), row.metrics.end(),
                                  [&](const MetricPoint& point) { return point.accuracy >= threshold; });
  return first == row.metrics.end() ? std::nullopt : std::optional(first->step);
}

// Validation loss at the first and at the last evaluation at which it was finite.
std::optional<std::pair<double, double>> losses(const ResultRow& row) {
  std::optional<std::pair<double, double>> ends;
  for (const MetricPoint& point : row.metrics) {
    if (!std::isfinite(point.loss)) continue;
    if (!ends) ends = {point.loss, point.loss};
    ends->second = point.loss;
  }
  return ends;
}

std::string loss_text(const std::vector<RunDrops>& runs) {
  double first = 0, last = 0, count = 0;
  for (const RunDrops& run : runs)
    if (const auto ends = losses(*run.row)) {
      first += ends->first;
      last += ends->second;
      ++count;
    }
  return count == 0 ? "-" : fmt::format("{:.3g} to {:.3g}", first / count, last / count);
}

}  // namespace

Dynamics read_dynamics(std::span<const ResultRow> rows, const Options& options) {
  const bool all = options.text("rates") == "all";
  const std::vector<std::string> points = all ? std::vector<std::string>{"train.lr"} : std::vector<std::string>{};
  Dynamics dynamics{.cells = sort_into_cells(rows, {.panels = options.texts("panels"), .points = points}),
                    .drops = {},
                    .has_bump = false,
                    .all_rates = all};
  if (all) make_series_of_rates(dynamics.cells);
  for (const Cell& cell : dynamics.cells.cells) {
    dynamics.drops.emplace_back();
    for (const ResultRow* row : cell.rows) {
      dynamics.drops.back().push_back({row, find_loss_drops(row->metrics, drop_rule(options))});
      for (const LossDrop& drop : dynamics.drops.back().back().drops) dynamics.has_bump |= drop.bump;
    }
  }
  return dynamics;
}

std::string drop_text(const Options& options) {
  const LossDropRule rule = drop_rule(options);
  return fmt::format(
      "a drop is a plateau of the validation loss (three evaluations within {:.3g} %) and after it a fall by at least "
      "{:.3g} %; with accuracy if that rises by {:.3g} points or more, else it is a bump; a loss that falls from the "
      "start has no plateau, so it counts as no drop however far it falls",
      100 * rule.flat, 100 * rule.depth, 100 * rule.gain);
}

Table dynamics_table(const Dynamics& dynamics, const Options& options) {
  const double threshold = options.real("threshold");
  const Table empty{.columns = {{"model"},
                                {"rate", Align::right},
                                {"seeds", Align::right},
                                {"loss, first to last", Align::right},
                                {fmt::format("first at {:.0f} %", 100 * threshold), Align::right},
                                {"test %", Align::right},
                                {"95 % interval", Align::right},
                                {"drops with accuracy", Align::right},
                                {"drops without (bumps)", Align::right},
                                {"bumps begin at step", Align::right}},
                    .rows = {}};
  std::vector<TablePart> parts;
  for (const std::string& panel : dynamics.cells.panels) parts.push_back({panel, empty});
  for (std::size_t i = 0; i < dynamics.cells.cells.size(); ++i) {
    const Cell& cell = dynamics.cells.cells[i];
    std::vector<std::int64_t> solved, bumps;
    std::size_t with = 0, without = 0;
    for (const RunDrops& run : dynamics.drops[i]) {
      if (const auto step = solved_at(*run.row, threshold)) solved.push_back(*step);
      for (const LossDrop& drop : run.drops) {
        if (drop.bump) bumps.push_back(drop.from);
        ++(drop.bump ? without : with);
      }
    }
    parts[cell.panel].table.rows.push_back({dynamics.all_rates ? mixer_name(*cell.rows.front()) : cell.series,
                                            format_rate(cell.chosen().rate), std::to_string(cell.rows.size()),
                                            loss_text(dynamics.drops[i]), steps_text(solved),
                                            mean_and_error(cell.chosen().test), interval_text(cell.chosen().test),
                                            std::to_string(with), std::to_string(without), steps_text(bumps)});
  }
  return parts.empty() ? empty : stacked("panel", parts);
}

Records dynamics_records(const Dynamics& dynamics, const Options& options) {
  const double threshold = options.real("threshold");
  const auto number = [](const auto& value) { return value ? Record(*value) : Record(); };
  Records records;
  for (std::size_t i = 0; i < dynamics.cells.cells.size(); ++i)
    for (const RunDrops& run : dynamics.drops[i]) {
      const Cell& cell = dynamics.cells.cells[i];
      const auto ends = losses(*run.row);
      const auto bump =
          std::find_if(run.drops.begin(), run.drops.end(), [](const LossDrop& drop) { return drop.bump; });
      const auto bumps = std::count_if(run.drops.begin(), run.drops.end(), [](const LossDrop& d) { return d.bump; });
      records.push_back(
          {{"panel", dynamics.cells.panels[cell.panel]},
           {"series", cell.series},
           {"run", run.row->run},
           {"seed", seed_text(*run.row)},
           {"lr", cell.chosen().rate},
           {"first_loss", ends ? Record(ends->first) : Record()},
           {"last_loss", ends ? Record(ends->second) : Record()},
           {fmt::format("steps_to_{:g}_percent", 100 * threshold), number(solved_at(*run.row, threshold))},
           {"test_score", test_score(*run.row)},
           {"drops_with_accuracy", run.drops.size() - static_cast<std::size_t>(bumps)},
           {"drops_without_accuracy", bumps},
           {"first_bump_step", bump == run.drops.end() ? Record() : Record(bump->from)}});
    }
  return records;
}

}  // namespace mneme::report
