// The window of learning rates, defined once: the search (window_search.h), reports and claims all use this.
//
// A grid has ascending rates, given by their positions (log10 of the rate, so that distances are decades), and seeds. A
// seed solves a rate if its validation accuracy is >= threshold. With m seeds, k = ceil(share * m) successes make a
// rate trainable and m - k + 1 failures make it not; with neither it is undecided.
//
// The window is the widest stretch of trainable rates without one between them that is known not to be trainable: an
// undecided rate neither ends a stretch nor belongs to its ends. Among stretches of equal width the one with more
// trainable rates is the window, then the one at lower rates. One trainable rate is a window of width 0.
//
// A window that reaches an end of the grid is open there: its width is a lower bound. "No window" is a value too, and
// narrower than any window.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace mneme::study {

struct WindowRule {
  double threshold = 0.9;
  double share = 0.5;
};

// k of m seeds.
std::size_t successes_needed(double share, std::size_t seeds);
// True, false, or not yet decided.
std::optional<bool> is_trainable(std::size_t good, std::size_t bad, std::size_t seeds, double share);

struct Window {
  std::size_t lo = 0, hi = 0;  // rates of the grid, trainable
  double width = 0;            // the distance of their positions
  std::size_t rates = 0;       // trainable ones from lo to hi
  bool open_low = false;       // it reaches the first rate of the grid
  bool open_high = false;
  bool lo_is_sharp = false;  // the rate below was tried and is not trainable (or there is none)
  bool hi_is_sharp = false;

  bool open() const { return open_low || open_high; }
};

std::optional<Window> find_window(std::span<const double> positions, std::span<const std::optional<bool>> trainable);

// Validation accuracies of a grid: one line per rate, one column per seed, NaN where a run is missing.
struct SeedGrid {
  std::vector<double> positions;
  std::vector<std::vector<double>> accuracy;

  std::size_t seeds() const { return accuracy.empty() ? 0 : accuracy.front().size(); }
};

std::optional<Window> find_window(const SeedGrid& grid, const WindowRule& rule);

}  // namespace mneme::study
