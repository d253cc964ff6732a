#include "report/stats/paired.h"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <optional>

#include "report/stats/format.h"

namespace mneme::report {
namespace {

// Seed -> test accuracy; nothing for a seed that is there twice, which has no partner of its own.
std::map<std::string, std::optional<double>> accuracy_by_seed(const RatePoint& point) {
  std::map<std::string, std::optional<double>> accuracies;
  for (const SeedResult& seed : point.seeds) {
    const auto [place, is_new] = accuracies.try_emplace(seed.seed, seed.test);
    if (!is_new) place->second.reset();
  }
  return accuracies;
}

std::optional<Summary> difference(const RatePoint& first, const RatePoint& second) {
  const auto others = accuracy_by_seed(second);
  std::vector<double> differences;
  for (const auto& [seed, accuracy] : accuracy_by_seed(first)) {
    const auto other = others.find(seed);
    if (accuracy && other != others.end() && other->second) differences.push_back(*accuracy - *other->second);
  }
  if (differences.empty()) return std::nullopt;
  return summarize(differences, 0);
}

std::string points_text(const std::optional<Interval>& interval) {
  return interval ? fmt::format("{:+.1f} to {:+.1f}", 100 * interval->low, 100 * interval->high) : "-";
}

}  // namespace

std::vector<PairedDifference> paired_differences(const LrWindows& windows) {
  std::vector<PairedDifference> found;
  const auto compare = [&](const LrSeries& a, const RatePoint& at_a, const LrSeries& b, const RatePoint& at_b,
                           bool best) {
    if (const auto summary = difference(at_a, at_b))
      found.push_back({a.label, b.label, at_a.rate, at_b.rate, best, *summary});
  };
  for (auto a = windows.series.begin(); a != windows.series.end(); ++a)
    for (auto b = a + 1; b != windows.series.end(); ++b) {
      for (const RatePoint& at_a : a->points)
        for (const RatePoint& at_b : b->points)
          if (at_a.rate == at_b.rate) compare(*a, at_a, *b, at_b, false);
      compare(*a, a->points[a->best], *b, b->points[b->best], true);
    }
  return found;
}

Table paired_table(const std::vector<PairedDifference>& differences) {
  Table table{.columns = {{"first"},
                          {"second"},
                          {"rate", Align::right},
                          {"pairs", Align::right},
                          {"first - second, % points", Align::right},
                          {"s.e.", Align::right},
                          {"95 % interval", Align::right}},
              .rows = {}};
  for (const PairedDifference& paired : differences) {
    const std::string rates = format_rate(paired.first_rate);
    table.rows.push_back(
        {paired.first, paired.second,
         paired.at_best_rates ? fmt::format("best: {}, {}", rates, format_rate(paired.second_rate)) : rates,
         std::to_string(paired.difference.n), fmt::format("{:+.1f}", 100 * paired.difference.mean),
         format_percent(paired.difference.standard_error), points_text(confidence_interval(paired.difference))});
  }
  return table;
}

void add_paired_records(Records& records, const std::string& panel, const std::vector<PairedDifference>& differences) {
  for (const PairedDifference& paired : differences) {
    Record& record = records.emplace_back();
    record = {{"panel", panel},
              {"first", paired.first},
              {"second", paired.second},
              {"first_lr", paired.first_rate},
              {"second_lr", paired.second_rate},
              {"at_best_rates", paired.at_best_rates},
              {"pairs", paired.difference.n}};
    add_summary(record, "test_score_difference", paired.difference);
  }
}

}  // namespace mneme::report
