#include "report/stats/lr_window.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

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
  point.trainable = point.validation.success_rate >= rule.share;
  return point;
}

bool is_wider(const RateWindow& a, const RateWindow& b) {
  return std::make_tuple(a.decades(), a.rates) > std::make_tuple(b.decades(), b.rates);
}

std::optional<RateWindow> widest_window(const std::vector<RatePoint>& points) {
  std::optional<RateWindow> widest;
  for (std::size_t first = 0; first < points.size(); ++first) {
    if (!points[first].trainable) continue;
    std::size_t last = first;
    while (last + 1 < points.size() && points[last + 1].trainable) ++last;
    const RateWindow window{.lo = points[first].rate,
                            .hi = points[last].rate,
                            .rates = static_cast<int>(last - first + 1),
                            .reaches_lowest = first == 0,
                            .reaches_highest = last + 1 == points.size()};
    if (!widest || is_wider(window, *widest)) widest = window;
    first = last;
  }
  return widest;
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
                                          .validation = counted_validation_accuracy(*row),
                                          .test = counted_test_accuracy(*row)});
  std::vector<RatePoint> points;
  for (auto& [rate, seeds] : rates) points.push_back(make_point(rate, std::move(seeds), rule));
  return points;
}

LrWindows find_lr_windows(std::span<const ResultRow> rows, const LrWindowRule& rule,
                          const std::vector<std::string>& apart_from) {
  std::vector<ResultRow> results;
  std::copy_if(rows.begin(), rows.end(), std::back_inserter(results), is_result);
  const std::vector<std::string> labels = series_labels(results, apart_from);
  std::map<std::string, std::vector<const ResultRow*>, LabelOrder> groups;
  for (std::size_t i = 0; i < results.size(); ++i) groups[labels[i]].push_back(&results[i]);

  LrWindows windows{.rule = rule,
                    .series = {},
                    .runs = static_cast<int>(results.size()),
                    .left_out = static_cast<int>(rows.size() - results.size())};
  for (const auto& [label, members] : groups) {
    const ResultRow* first = *std::min_element(members.begin(), members.end(),
                                               [](const ResultRow* a, const ResultRow* b) { return a->run < b->run; });
    LrSeries series{.label = label, .config = first->config, .points = rate_points(members, rule), .window = {}};
    series.window = widest_window(series.points);
    series.best = best_rate(series.points);
    windows.series.push_back(std::move(series));
  }
  return windows;
}

std::string describe_width(const std::optional<RateWindow>& window) {
  if (!window) return "none";
  const bool open = window->reaches_lowest || window->reaches_highest;
  if (window->rates == 1) return "0 (one rate)";
  return fmt::format("{}{:.2f}", open ? "at least " : "", window->decades());
}

std::string describe_range(const std::optional<RateWindow>& window) {
  if (!window) return "none";
  if (window->rates == 1) return format_rate(window->lo);
  return fmt::format("{} to {}", format_rate(window->lo), format_rate(window->hi));
}

}  // namespace mneme::report
