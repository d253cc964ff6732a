// What seeds say about a window: its uncertainty, and whether one window is wider than another.
//
// Seeds are drawn with replacement and the window of each draw is found again. Up to five seeds all n^n draws are
// taken, with more 2,000 from a counter-based generator: the same results always give the same answer. Two windows are
// compared draw by draw with the same seeds for both (paired), because equal seeds are the same data in the same order.
#pragma once

#include <optional>
#include <vector>

#include "study/window.h"

namespace mneme::study {

// Each draw: as many seeds as there are, by number.
std::vector<std::vector<std::size_t>> seed_draws(std::size_t seeds);

// The window of one draw. A rate for which none of the drawn seeds was run keeps its verdict.
std::optional<Window> window_of_draw(const SeedGrid& grid, const WindowRule& rule,
                                     const std::vector<std::size_t>& draw);

struct WindowUncertainty {
  double lo_error = 0, hi_error = 0, width_error = 0;  // standard deviation over draws, in units of the positions
  double least = 0, most = 0;                          // the middle 95 % of the widths
  double found = 1;                                    // share of the draws that have a window at all
};
WindowUncertainty resample_seeds(const SeedGrid& grid, const WindowRule& rule);

// Shares of the draws. An open window is at least as wide as it was seen to be, and may be wider than any other: where
// that decides, the draw is unknown.
struct WindowComparison {
  double wider = 0, equal = 0, narrower = 0;  // the first against the second, whatever open ends would add
  double at_least = 0;                        // wider, equal, or open and not seen to be narrower
  double unknown = 0;
  double least = 0, most = 0;  // the middle 95 % of the difference of the seen widths (no window: width 0)
  std::size_t draws = 0;
};
WindowComparison compare_windows(const SeedGrid& first, const SeedGrid& second, const WindowRule& rule);

}  // namespace mneme::study
