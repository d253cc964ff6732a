#include "report/stats/statistics.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "core/error.h"

namespace mneme::report {

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

Json statistics_json(const Summary& summary) {
  return {{"n", summary.n},
          {"mean", summary.mean},
          {"standard_error", std::isnan(summary.standard_error) ? Json() : Json(summary.standard_error)},
          {"min", summary.min},
          {"max", summary.max},
          {"median", summary.median},
          {"success_rate", summary.success_rate}};
}

}  // namespace mneme::report
