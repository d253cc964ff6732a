#include "report/stats/curves.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace mneme::report {
namespace {

double mean_of(const std::vector<MetricPoint>& points, std::size_t begin, std::size_t end, double MetricPoint::*value) {
  double sum = 0;
  for (std::size_t i = begin; i < end; ++i) sum += points[i].*value;
  return sum / static_cast<double>(end - begin);
}

}  // namespace

std::int64_t budget_steps(const ResultRow& row) {
  const Json* steps = config_value(row, "train.steps");
  return steps != nullptr && steps->is_number_integer() ? steps->get<std::int64_t>() : 0;
}

bool has_curve(const ResultRow& row) { return !row.metrics.empty() && budget_steps(row) > 0; }

double score_by(const ResultRow& row, double share) {
  const double last = share * static_cast<double>(budget_steps(row));
  if (static_cast<double>(row.steps) <= last) return validation_score(row);
  double score = 0;
  for (const MetricPoint& point : row.metrics)
    if (static_cast<double>(point.step) <= last && std::isfinite(score_of(row, point))) score = score_of(row, point);
  return score;
}

std::optional<double> tokens_until(const ResultRow& row, double score) {
  for (const MetricPoint& point : row.metrics)
    if (std::isfinite(score_of(row, point)) && score_of(row, point) >= score)
      return static_cast<double>(point.step) * static_cast<double>(row.tokens_per_step);
  return {};
}

double budget_tokens(const ResultRow& row) {
  return static_cast<double>(budget_steps(row)) * static_cast<double>(row.tokens_per_step);
}

std::optional<double> capped_loss(const ResultRow& row) {
  if (!std::isfinite(row.initial_loss)) return {};
  if (row.outcome != "done") return row.initial_loss;
  for (auto point = row.metrics.rbegin(); point != row.metrics.rend(); ++point)
    if (std::isfinite(point->loss)) return std::min(point->loss, row.initial_loss);
  return {};
}

std::optional<Summary> rate_sensitivity(const std::vector<const ResultRow*>& results) {
  std::map<std::string, std::vector<double>> losses;  // by seed
  std::set<double> rates;
  for (const ResultRow* row : results) {
    const auto loss = capped_loss(*row);
    if (!loss) return {};
    losses[seed_text(*row)].push_back(*loss);
    rates.insert(learning_rate(*row));
  }
  std::vector<double> values;
  for (const auto& [seed, all] : losses) {
    if (all.size() != rates.size()) continue;  // a seed that is missing at a rate would look better for it
    const double best = *std::min_element(all.begin(), all.end());
    double sum = 0;
    for (const double loss : all) sum += loss - best;
    values.push_back(sum / static_cast<double>(all.size()));
  }
  if (values.empty()) return {};
  return summarize(values, 0);
}

Convergence convergence_of(const ResultRow& row) {
  if (row.outcome == "diverged") return Convergence::converged;
  std::vector<MetricPoint> points;
  std::copy_if(row.metrics.begin(), row.metrics.end(), std::back_inserter(points),
               [](const MetricPoint& point) { return std::isfinite(point.loss) && std::isfinite(point.accuracy); });
  const std::size_t n = points.size(), quarter = n / 4;
  if (n < kLeastEvaluations || !std::isfinite(row.initial_loss)) return Convergence::unknown;
  const double loss = mean_of(points, n - 2 * quarter, n - quarter, &MetricPoint::loss) -
                      mean_of(points, n - quarter, n, &MetricPoint::loss);
  const double accuracy = mean_of(points, n - quarter, n, &MetricPoint::accuracy) -
                          mean_of(points, n - 2 * quarter, n - quarter, &MetricPoint::accuracy);
  return loss < kLossTrend * row.initial_loss && accuracy < kAccuracyTrend ? Convergence::converged
                                                                           : Convergence::improving;
}

}  // namespace mneme::report
