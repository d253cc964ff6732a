// Finding the window of trainable learning rates with few runs.
//
// The rates are those of a grid, ascending; a cell is one rate with one seed. A rate is trainable if at least `share`
// of its seeds reach the threshold on validation: with m seeds, k = ceil(share * m) successes make it trainable and
// m - k + 1 failures make it not, so a rate is often decided before its last seed.
//
// 1. Coarse: a few rates over the whole range, until each is decided.
// 2. If none is trainable: the rates between, nearest to the best so far first, halving the distance.
// 3. The widest stretch of trainable rates is bracketed; each edge is bisected until the rates beside it are
// neighbours.
// 4. With what is left of the budget: the missing seeds at the edges and just outside, for the uncertainty.
//
// The search is a function of the results: asked again with the same ones it wants the same cells, which is what makes
// it resumable. It assumes that rates between two trainable ones of the stretch are trainable.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace mneme::study {

struct WindowRule {
  double threshold = 0.9;
  double share = 0.5;
};

using Cell = std::pair<std::size_t, std::size_t>;  // rate, seed
using CellResults = std::map<Cell, double>;        // validation accuracy

struct FoundWindow {
  std::size_t lo = 0, hi = 0;  // rates, trainable
  bool lo_is_sharp = false;    // the rate below was tried and is not trainable (or there is none)
  bool hi_is_sharp = false;
};

class WindowSearch {
 public:
  WindowSearch(std::size_t rates, std::size_t seeds, WindowRule rule, std::size_t budget);

  // The cells to run next; none if the search is over. Never more than the budget allows, of which `spent` runs are
  // gone: results that were there before cost nothing.
  std::vector<Cell> next(const CellResults& known, std::size_t spent) const;
  // As if every known cell had been paid for.
  std::vector<Cell> next(const CellResults& known) const { return next(known, known.size()); }

  // What the results say: the widest stretch; nothing if no rate is known to be trainable.
  std::optional<FoundWindow> window(const CellResults& known) const;

  // True, false, or not yet decided.
  std::optional<bool> trainable(std::size_t rate, const CellResults& known) const;

 private:
  std::vector<Cell> cells_to_decide(std::size_t rate, const CellResults& known) const;
  std::vector<std::size_t> coarse_rates(std::size_t stride) const;
  std::vector<std::size_t> edge_rates(const FoundWindow& window, const CellResults& known) const;

  std::size_t rates_, seeds_, needed_, budget_, stride_;
  WindowRule rule_;
};

struct WindowUncertainty {
  double lo_error = 0, hi_error = 0, width_error = 0;  // in grid steps: standard deviation over resampled seeds
  double found = 1;                                    // share of the resamples that have a window at all
};

// Draws seeds with replacement, `draws` times, and finds the window of each draw among the cells that are known.
WindowUncertainty resample_seeds(const WindowSearch& search, std::size_t seeds, const WindowRule& rule,
                                 const CellResults& known, int draws = 400);

}  // namespace mneme::study
