// How a positive quantity falls with a distance.
#pragma once

#include <vector>

#include "core/json.h"

namespace mneme::inspect {

// Two straight lines by least squares: log y against x (exponential, y ~ factor^x) and against log x (power law,
// y ~ x^exponent), each with the share r2 of the variance of log y that it explains. `better` is the one with the
// larger share, or "neither" if both are below 0.5. Null with fewer than four x whose y is positive.
Json decay_fit(const std::vector<double>& x, const std::vector<double>& y);

}  // namespace mneme::inspect
