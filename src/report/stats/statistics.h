// Statistics of a handful of seeds.
#pragma once

#include <optional>
#include <span>

#include "core/json.h"

namespace mneme::report {

struct Summary {
  int n = 0;
  double mean = 0;
  double standard_error = 0;  // sample deviation / sqrt(n); NaN for n = 1, where it is not known
  double min = 0;
  double max = 0;
  double median = 0;        // the mean of the two middle values for even n
  double success_rate = 0;  // share of values >= threshold
};

// Needs at least one value, all finite. The result does not depend on the order of the values, to the bit.
Summary summarize(std::span<const double> values, double threshold);

// The t with |T| <= t in 95 % of the draws, for Student's T with this many degrees of freedom (at least one).
double student_t95(int degrees);

struct Interval {
  double low = 0, high = 0;
};
// The 95 % confidence interval of the mean by Student's t, mean ± t standard errors; nothing for one value.
std::optional<Interval> confidence_interval(const Summary& summary);
// The same for values that cannot leave [0, 1], such as accuracies: the part of the interval that is in there.
std::optional<Interval> share_interval(const Summary& summary);

// n, mean, standard_error and confidence_95 ([low, high]; both null for one value), min, max, median, success_rate.
Json statistics_json(const Summary& summary);

}  // namespace mneme::report
