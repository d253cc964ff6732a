#include "inspect/fit.h"

#include <cmath>

namespace mneme::inspect {
namespace {

constexpr std::size_t kFewest = 4;
constexpr double kExplains = 0.5;

struct Line {
  double slope = 0, intercept = 0, r2 = 0;
};

Line fit_line(const std::vector<double>& x, const std::vector<double>& y) {
  const auto n = static_cast<double>(x.size());
  double mean_x = 0, mean_y = 0, xx = 0, xy = 0, yy = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    mean_x += x[i] / n;
    mean_y += y[i] / n;
  }
  for (std::size_t i = 0; i < x.size(); ++i) {
    xx += (x[i] - mean_x) * (x[i] - mean_x);
    xy += (x[i] - mean_x) * (y[i] - mean_y);
    yy += (y[i] - mean_y) * (y[i] - mean_y);
  }
  const double slope = xy / xx;
  return {slope, mean_y - slope * mean_x, yy > 0 ? xy * xy / (xx * yy) : 1.0};
}

}  // namespace

Json decay_fit(const std::vector<double>& x, const std::vector<double>& y) {
  std::vector<double> plain, logs, values;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (!(y[i] > 0) || !std::isfinite(y[i])) continue;
    plain.push_back(x[i]);
    logs.push_back(std::log(x[i]));
    values.push_back(std::log(y[i]));
  }
  if (values.size() < kFewest) return {};
  const Line exponential = fit_line(plain, values), power = fit_line(logs, values);
  const bool exponential_wins = exponential.r2 >= power.r2;
  const double most = exponential_wins ? exponential.r2 : power.r2;
  return {{"exponential",
           {{"factor", std::exp(exponential.slope)},
            {"half_life", exponential.slope < 0 ? Json(-std::log(2.0) / exponential.slope) : Json()},
            {"at_zero", std::exp(exponential.intercept)},
            {"r2", exponential.r2}}},
          {"power", {{"exponent", power.slope}, {"at_one", std::exp(power.intercept)}, {"r2", power.r2}}},
          {"better", most < kExplains   ? "neither"
                     : exponential_wins ? "exponential"
                                        : "power"}};
}

}  // namespace mneme::inspect
