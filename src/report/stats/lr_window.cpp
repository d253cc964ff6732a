#include "report/stats/lr_window.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "report/stats/curves.h"
#include "report/stats/format.h"

namespace mneme::report {
namespace {

Summary summarize_seeds(const std::vector<SeedResult>& seeds, double SeedResult::*accuracy, double threshold) {
  std::vector<double> values;
  for (const SeedResult& seed : seeds) values.push_back(seed.*accuracy);
  return summarize(values, threshold);
}

RatePoint make_point(double rate, std::vector<SeedResult> seeds, const LrWindowRule& rule) {
  std::sort(seeds.begin(), seeds.end(), [](const SeedResult& a, const SeedResult& b) { return a.run < b.run; });
  RatePoint point{.rate = rate, .seeds = std::move(seeds), .validation = {}, .test = {}};
  point.validation = summarize_seeds(point.seeds, &SeedResult::validation, rule.threshold);
  point.test = summarize_seeds(point.seeds, &SeedResult::test, rule.threshold);
  const std::size_t n = point.seeds.size();
  const auto good = static_cast<std::size_t>(std::lround(point.validation.success_rate * static_cast<double>(n)));
  point.trainable = study::is_trainable(good, n - good, std::max(n, rule.seeds), rule.share) == true;
  return point;
}

// Different seeds of these results; a seed that comes twice at one rate counts twice.
std::vector<std::string> seed_columns(const std::vector<const ResultRow*>& results) {
  std::map<std::pair<double, std::string>, int> times;
  std::map<std::string, int> most;
  for (const ResultRow* row : results) {
    const std::string seed = seed_text(*row);
    most[seed] = std::max(most[seed], ++times[{learning_rate(*row), seed}]);
  }
  std::vector<std::string> columns;
  for (const auto& [seed, count] : most) columns.insert(columns.end(), static_cast<std::size_t>(count), seed);
  return columns;
}

std::optional<RateWindow> window_of(const study::SeedGrid& grid, const std::vector<RatePoint>& points,
                                    const study::WindowRule& rule) {
  const auto window = study::find_window(grid, rule);
  if (!window) return {};
  return RateWindow{.lo = points[window->lo].rate,
                    .hi = points[window->hi].rate,
                    .rates = static_cast<int>(window->rates),
                    .reaches_lowest = window->open_low,
                    .reaches_highest = window->open_high};
}

void add_curves(LrSeries& series, const std::vector<const ResultRow*>& members, const LrWindowRule& rule) {
  series.has_curves = std::all_of(members.begin(), members.end(), [](const ResultRow* row) { return has_curve(*row); });
  if (!series.has_curves) return;
  const auto part = [&](double share) {
    const auto by_then = [share](const ResultRow& row) { return score_by(row, share); };
    return window_of(seed_grid(members, by_then, rule.seeds), series.points, rule);
  };
  series.half = part(0.5);
  series.quarter = part(0.25);
  series.sensitivity = rate_sensitivity(members);
}

}  // namespace

double RateWindow::decades() const { return std::log10(hi / lo); }

std::size_t best_rate(const std::vector<RatePoint>& points) {
  const auto best = std::max_element(points.begin(), points.end(), [](const RatePoint& a, const RatePoint& b) {
    return a.validation.mean < b.validation.mean;
  });
  return static_cast<std::size_t>(best - points.begin());
}

std::vector<RatePoint> rate_points(const std::vector<const ResultRow*>& results, const LrWindowRule& rule) {
  std::map<double, std::vector<SeedResult>> rates;
  for (const ResultRow* row : results)
    rates[learning_rate(*row)].push_back({.run = row->run,
                                          .seed = seed_text(*row),
                                          .outcome = row->outcome,
                                          .validation = validation_score(*row),
                                          .test = test_score(*row)});
  std::vector<RatePoint> points;
  for (auto& [rate, seeds] : rates) points.push_back(make_point(rate, std::move(seeds), rule));
  return points;
}

study::SeedGrid seed_grid(const std::vector<const ResultRow*>& results,
                          const std::function<double(const ResultRow&)>& value, std::size_t seeds) {
  const std::vector<std::string> columns = seed_columns(results);
  const std::size_t width = std::max(columns.size(), seeds);
  std::vector<const ResultRow*> ordered = results;
  std::sort(ordered.begin(), ordered.end(), [](const ResultRow* a, const ResultRow* b) { return a->run < b->run; });
  std::map<double, std::vector<double>> lines;
  for (const ResultRow* row : ordered) {
    std::vector<double>& line =
        lines.try_emplace(learning_rate(*row), width, std::numeric_limits<double>::quiet_NaN()).first->second;
    const auto column = std::find(columns.begin(), columns.end(), seed_text(*row));
    auto place = line.begin() + (column - columns.begin());
    while (!std::isnan(*place)) ++place;
    *place = value(*row);
  }
  study::SeedGrid grid;
  for (auto& [rate, line] : lines) {
    grid.positions.push_back(std::log10(rate));
    grid.accuracy.push_back(std::move(line));
  }
  return grid;
}

LrWindows find_lr_windows(std::span<const ResultRow> rows, const LrWindowRule& rule,
                          const std::vector<std::string>& apart_from) {
  std::vector<const ResultRow*> results;
  std::vector<ResultRow> named;  // labels need the configuration alone
  for (const ResultRow& row : rows) {
    if (!is_result(row)) continue;
    results.push_back(&row);
  }
  // Many thousands of rows are not copied without need.
  if (results.size() < rows.size())
    for (const ResultRow* row : results) {
      named.emplace_back().config = row->config;
      named.back().run = row->run;
    }
  const std::vector<std::string> labels =
      series_labels(results.size() < rows.size() ? std::span<const ResultRow>(named) : rows, apart_from);
  std::map<std::string, std::vector<const ResultRow*>, LabelOrder> groups;
  for (std::size_t i = 0; i < results.size(); ++i) groups[labels[i]].push_back(results[i]);

  LrWindows windows{.rule = rule,
                    .series = {},
                    .runs = static_cast<int>(results.size()),
                    .left_out = static_cast<int>(rows.size() - results.size())};
  for (const auto& [label, members] : groups) {
    const ResultRow* first = *std::min_element(members.begin(), members.end(),
                                               [](const ResultRow* a, const ResultRow* b) { return a->run < b->run; });
    LrSeries& series = windows.series.emplace_back();
    series.label = label;
    series.config = first->config;
    series.grid = seed_grid(members, validation_score, rule.seeds);
    LrWindowRule own = rule;
    own.seeds = series.grid.seeds();
    series.points = rate_points(members, own);
    series.window = window_of(series.grid, series.points, rule);
    series.uncertainty = study::resample_seeds(series.grid, rule);
    series.best = best_rate(series.points);
    add_curves(series, members, rule);
  }
  return windows;
}

std::vector<ComparedWindows> compare_all(const LrWindows& windows) {
  const auto width = [](const LrSeries& series) { return series.window ? series.window->decades() : 0.0; };
  std::vector<ComparedWindows> pairs;
  for (auto first = windows.series.begin(); first != windows.series.end(); ++first)
    for (auto second = first + 1; second != windows.series.end(); ++second)
      pairs.push_back({.first = &*first,
                       .second = &*second,
                       .seeds = std::min(first->grid.seeds(), second->grid.seeds()),
                       .difference = width(*first) - width(*second),
                       .draws = study::compare_windows(first->grid, second->grid, windows.rule)});
  return pairs;
}

std::string describe_width(const std::optional<RateWindow>& window) {
  if (!window) return "none";
  const bool open = window->reaches_lowest || window->reaches_highest;
  if (window->rates == 1) return "0 (one rate)";
  return fmt::format("{}{:.2f}", open ? "at least " : "", window->decades());
}

std::string describe_uncertainty(const study::WindowUncertainty& uncertainty, std::size_t seeds, double unit) {
  if (seeds < 2) return "one seed: its uncertainty is not known";
  return fmt::format("± {:.2f} over seeds, 95 % from {:.2f} to {:.2f}", uncertainty.width_error * unit,
                     uncertainty.least * unit, uncertainty.most * unit);
}

std::string describe_range(const std::optional<RateWindow>& window) {
  if (!window) return "none";
  if (window->rates == 1) return format_rate(window->lo);
  return fmt::format("{} to {}", format_rate(window->lo), format_rate(window->hi));
}

}  // namespace mneme::report
