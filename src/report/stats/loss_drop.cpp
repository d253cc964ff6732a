#include "report/stats/loss_drop.h"

#include <algorithm>
#include <cmath>

namespace mneme::report {
namespace {

std::vector<MetricPoint> smoothed(const std::vector<MetricPoint>& points) {
  std::vector<MetricPoint> finite;
  std::copy_if(points.begin(), points.end(), std::back_inserter(finite),
               [](const MetricPoint& point) { return std::isfinite(point.loss) && std::isfinite(point.accuracy); });
  std::vector<MetricPoint> result = finite;
  for (std::size_t i = 1; i + 1 < finite.size(); ++i) {
    const double a = finite[i - 1].loss, b = finite[i].loss, c = finite[i + 1].loss;
    result[i].loss = std::max(std::min(a, b), std::min(std::max(a, b), c));
  }
  return result;
}

// True if the evaluations first, first + 1 and first + 2 exist and are flat.
bool is_flat(const std::vector<MetricPoint>& points, std::size_t first, double flat) {
  if (first + 2 >= points.size()) return false;
  const auto [least, most] = std::minmax({points[first].loss, points[first + 1].loss, points[first + 2].loss});
  return most - least <= flat * std::abs(points[first].loss);
}

}  // namespace

std::vector<LossDrop> find_loss_drops(const std::vector<MetricPoint>& points, const LossDropRule& rule) {
  const std::vector<MetricPoint> curve = smoothed(points);
  std::vector<LossDrop> drops;
  for (std::size_t a = 2; a + 1 < curve.size(); ++a) {
    if (!is_flat(curve, a - 2, rule.flat) || is_flat(curve, a - 1, rule.flat)) continue;
    std::size_t b = a + 1;
    while (b + 1 < curve.size() && !is_flat(curve, b, rule.flat)) ++b;
    if (!(curve[b].loss <= (1 - rule.depth) * curve[a].loss)) continue;
    double highest = curve[a].accuracy;
    for (std::size_t i = a; i <= b; ++i) highest = std::max(highest, curve[i].accuracy);
    const double gain = highest - curve[a].accuracy;
    drops.push_back({.from = curve[a].step,
                     .to = curve[b].step,
                     .loss_from = curve[a].loss,
                     .loss_to = curve[b].loss,
                     .gain = gain,
                     .bump = gain < rule.gain});
  }
  return drops;
}

}  // namespace mneme::report
