// The same claim at several scales, side by side.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "report/claims/reproduction_state.h"

namespace mneme::report {

// The scales of an item at which results are kept in a directory, smallest first.
std::vector<std::string> kept_scales(const Reproduction& item, const Path& directory);

// One line a claim, one column a scale: the verdict with its reason. `states` are one item at different scales; claims
// that are not run at any of them are left out. Empty for fewer than two states.
Table scale_table(std::span<const ReproductionState> states);

}  // namespace mneme::report
