// Finding the window of trainable learning rates with few runs.
//
// The rates are those of a grid, ascending; a cell is one rate with one seed. What a window is, and when a rate is
// decided, is defined in study/window.h: often before its last seed.
//
// 1. Coarse: a few rates over the whole range, until each is decided.
// 2. If none is trainable: the rates between, nearest to the best so far first, halving the distance.
// 3. The widest stretch of trainable rates is bracketed; each edge is bisected until the rates next to it are
// neighbours.
// 4. With what is left of the budget: the missing seeds at the edges and just outside, for the uncertainty.
//
// The search is a function of the results: given the same ones it wants the same cells, which makes
// it resumable. It assumes that rates between two trainable ones of the stretch are trainable.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "study/window.h"

namespace mneme::study {

using Cell = std::pair<std::size_t, std::size_t>;  // rate, seed
using CellResults = std::map<Cell, double>;        // validation accuracy

class WindowSearch {
 public:
  WindowSearch(std::size_t rates, std::size_t seeds, WindowRule rule, std::size_t budget);

  // The cells to run next; none if the search is over. Never more than the budget allows; `spent` runs of it are
  // gone: results that were there before cost nothing.
  std::vector<Cell> next(const CellResults& known, std::size_t spent) const;
  // As if every known cell had been paid for.
  std::vector<Cell> next(const CellResults& known) const { return next(known, known.size()); }

  // What the results say; its width is in grid steps.
  std::optional<Window> window(const CellResults& known) const;

  // The cells as a grid whose positions are the numbers of the rates.
  SeedGrid grid(const CellResults& known) const;

  // True, false, or not yet decided.
  std::optional<bool> trainable(std::size_t rate, const CellResults& known) const;

 private:
  std::vector<Cell> cells_to_decide(std::size_t rate, const CellResults& known) const;
  std::vector<std::size_t> coarse_rates(std::size_t stride) const;
  std::vector<std::size_t> edge_rates(const Window& window, const CellResults& known) const;

  std::size_t rates_, seeds_, needed_, budget_, stride_;
  WindowRule rule_;
};

}  // namespace mneme::study
