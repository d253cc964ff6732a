#include "report/stats/cells.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "core/text.h"
#include "report/stats/format.h"

namespace mneme::report {
namespace {

using Values = std::vector<Json>;

Cell make_cell(const std::vector<const ResultRow*>& results) {
  Cell cell;
  cell.rates = rate_points(results);
  cell.best = best_rate(cell.rates);
  for (const ResultRow* row : results)
    if (learning_rate(*row) == cell.chosen().rate) cell.rows.push_back(row);
  std::sort(cell.rows.begin(), cell.rows.end(), [](const ResultRow* a, const ResultRow* b) { return a->run < b->run; });
  return cell;
}

void count(const Cell& cell, Counts& counts) {
  const std::size_t seeds = cell.rows.size();
  counts.least_seeds = counts.most_seeds == 0 ? seeds : std::min(counts.least_seeds, seeds);
  counts.most_seeds = std::max(counts.most_seeds, seeds);
  for (const ResultRow* row : cell.rows) counts.ended_badly |= row->outcome != "done";
}

}  // namespace

std::vector<Json> values_at(const ResultRow& row, const std::vector<std::string>& fields) {
  Values values;
  for (const std::string& path : fields) {
    const Json* value = config_value(row, path);
    values.push_back(value == nullptr ? Json() : *value);
  }
  return values;
}

std::vector<std::string> panel_names(const std::vector<Values>& panels, const std::vector<std::string>& fields) {
  std::vector<std::string> names;
  for (const Values& panel : panels) {
    std::vector<std::string> parts;
    for (std::size_t i = 0; i < fields.size(); ++i) {
      const auto differs = [&](const Values& other) { return other[i] != panel[i]; };
      if (!panel[i].is_null() && std::any_of(panels.begin(), panels.end(), differs))
        parts.push_back(field_text(fields[i], panel[i]));
    }
    names.push_back(join(parts, ", "));
  }
  return names;
}

Cells sort_into_cells(std::span<const ResultRow> rows, const CellFields& fields) {
  std::vector<ResultRow> results;
  std::vector<const ResultRow*> places;
  for (const ResultRow& row : rows) {
    if (!is_result(row)) continue;
    places.push_back(&row);
    // Labels need the configuration alone; metrics and traces would be copied for nothing.
    ResultRow named;
    named.run = row.run;
    named.config = row.config;
    results.push_back(std::move(named));
  }
  std::vector<std::string> apart = fields.panels;
  apart.insert(apart.end(), fields.points.begin(), fields.points.end());
  const std::vector<std::string> labels = series_labels(results, apart);

  std::map<std::tuple<Values, std::string, Values>, std::vector<const ResultRow*>> groups;
  std::set<Values> panels;
  for (std::size_t i = 0; i < places.size(); ++i) {
    const Values panel = values_at(*places[i], fields.panels);
    panels.insert(panel);
    groups[{panel, labels[i], values_at(*places[i], fields.points)}].push_back(places[i]);
  }

  Cells cells;
  cells.panels = panel_names({panels.begin(), panels.end()}, fields.panels);
  cells.series = labels;
  std::sort(cells.series.begin(), cells.series.end(), LabelOrder{});
  cells.series.erase(std::unique(cells.series.begin(), cells.series.end()), cells.series.end());
  for (const auto& [key, members] : groups) {
    Cell cell = make_cell(members);
    cell.panel = static_cast<std::size_t>(std::distance(panels.begin(), panels.find(std::get<0>(key))));
    cell.series = std::get<1>(key);
    cell.point = std::get<2>(key);
    count(cell, cells.counts);
    cells.cells.push_back(std::move(cell));
  }
  std::stable_sort(cells.cells.begin(), cells.cells.end(), [](const Cell& a, const Cell& b) {
    return a.panel != b.panel ? a.panel < b.panel : LabelOrder{}(a.series, b.series);
  });
  cells.counts.runs = static_cast<int>(places.size());
  cells.counts.left_out = static_cast<int>(rows.size() - places.size());
  return cells;
}

std::string mean_and_error(const Summary& summary) {
  if (std::isnan(summary.standard_error)) return format_percent(summary.mean);
  return fmt::format("{} ± {}", format_percent(summary.mean), format_percent(summary.standard_error));
}

std::string interval_text(const Summary& summary) {
  const auto interval = share_interval(summary);
  return interval ? fmt::format("{} to {}", format_percent(interval->low), format_percent(interval->high)) : "-";
}

std::string summary_text(const Summary& summary) {
  return fmt::format("{} (min {}, max {}, n = {})", format_percent(summary.mean), format_percent(summary.min),
                     format_percent(summary.max), summary.n);
}

}  // namespace mneme::report
