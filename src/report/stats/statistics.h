// What a handful of seeds says together.
#pragma once

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

// n, mean, standard_error (null for one value), min, max, median, success_rate.
Json statistics_json(const Summary& summary);

}  // namespace mneme::report
