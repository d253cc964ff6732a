#include "report/stats/statistics.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "core/error.h"

namespace mneme::report {
namespace {

// P(|T| <= t), exact for whole degrees of freedom: Abramowitz and Stegun, 26.7.3 and 26.7.4.
double student_within(double t, int degrees) {
  const double angle = std::atan(t / std::sqrt(degrees)), cosine = std::cos(angle), sine = std::sin(angle);
  const bool odd = degrees % 2 == 1;
  double term = odd ? cosine : 1, sum = 0;
  for (int i = odd ? 1 : 0; i <= degrees - 2; i += 2) {
    sum += term;
    term *= cosine * cosine * (i + 1) / (i + 2);
  }
  return odd ? 2 / std::numbers::pi * (angle + sine * sum) : sine * sum;
}

Json interval_json(const std::optional<Interval>& interval) {
  return interval ? Json{interval->low, interval->high} : Json();
}

}  // namespace

Summary summarize(std::span<const double> values, double threshold) {
  require(!values.empty(), "statistics need at least one value");
  require(std::all_of(values.begin(), values.end(), [](double value) { return std::isfinite(value); }),
          "statistics need finite values");
  // Summing in sorted order makes the rounding independent of the order in which runs finished.
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());

  const std::size_t n = sorted.size();
  const double count = static_cast<double>(n);
  double sum = 0;
  for (const double value : sorted) sum += value;
  const double mean = sum / count;
  double squares = 0;
  for (const double value : sorted) squares += (value - mean) * (value - mean);
  const auto first_success = std::lower_bound(sorted.begin(), sorted.end(), threshold);

  return {.n = static_cast<int>(n),
          .mean = mean,
          .standard_error = n < 2 ? std::numeric_limits<double>::quiet_NaN() : std::sqrt(squares / (count - 1) / count),
          .min = sorted.front(),
          .max = sorted.back(),
          .median = (sorted[(n - 1) / 2] + sorted[n / 2]) / 2,
          .success_rate = static_cast<double>(sorted.end() - first_success) / count};
}

double student_t95(int degrees) {
  require(degrees >= 1, "Student's t has at least one degree of freedom");
  double low = 0, high = 16;  // 12.7 for one degree, less for more
  for (int i = 0; i < 100; ++i) {
    const double middle = (low + high) / 2;
    (student_within(middle, degrees) < 0.95 ? low : high) = middle;
  }
  return (low + high) / 2;
}

std::optional<Interval> confidence_interval(const Summary& summary) {
  if (summary.n < 2) return std::nullopt;
  const double reach = student_t95(summary.n - 1) * summary.standard_error;
  return Interval{summary.mean - reach, summary.mean + reach};
}

std::optional<Interval> share_interval(const Summary& summary) {
  auto interval = confidence_interval(summary);
  if (interval) *interval = {std::max(interval->low, 0.0), std::min(interval->high, 1.0)};
  return interval;
}

Json statistics_json(const Summary& summary) {
  return {{"n", summary.n},
          {"mean", summary.mean},
          {"standard_error", std::isnan(summary.standard_error) ? Json() : Json(summary.standard_error)},
          {"confidence_95", interval_json(confidence_interval(summary))},
          {"min", summary.min},
          {"max", summary.max},
          {"median", summary.median},
          {"success_rate", summary.success_rate}};
}

}  // namespace mneme::report
