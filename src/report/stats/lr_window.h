// The window of learning rates in which a mixer can be trained, from the rows of a sweep.
//
// Rows are grouped into series (rows.h: series_labels), and in a series by learning rate over seeds.
// A rate is *trainable* if the share of its seeds whose validation accuracy is >= threshold is >= share.
// The *window* is the widest stretch [lo, hi] of neighbouring trainable rates in the series' sorted
// grid: widest in decades, log10(hi / lo); among equals the one with more rates, then the one at lower
// rates. A single trainable rate is a window of width 0. The grid ends where it ends: a window that
// reaches the first or last rate may be wider in truth, and says so.
//
// The best rate is chosen by mean validation accuracy (the lower rate among equals); the test accuracy at
// that rate is what is reported, so that selection and report never use the same data.
//
// Runs that diverged or failed count with their last finite evaluation, or 0 if there was none
// (rows.h). Runs that have not ended are left out and counted.
// The result depends on the set of rows, not on their order.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "report/stats/rows.h"
#include "report/stats/statistics.h"

namespace mneme::report {

struct LrWindowRule {
  double threshold = 0.9;
  double share = 0.5;
};

struct SeedResult {
  std::string run;
  std::string seed;
  std::string outcome;
  double validation = 0;
  double test = 0;
};

struct RatePoint {
  double rate = 0;
  std::vector<SeedResult> seeds;  // by run id
  Summary validation;
  Summary test;
  bool trainable = false;
};

struct RateWindow {
  double lo = 0;
  double hi = 0;
  int rates = 0;
  bool reaches_lowest = false;  // of the grid: the window may go on below
  bool reaches_highest = false;

  double decades() const;
};

struct LrSeries {
  std::string label;
  Json config;                    // of one of its runs
  std::vector<RatePoint> points;  // ascending rates, never empty
  std::optional<RateWindow> window;
  std::size_t best = 0;  // index into points
};

struct LrWindows {
  LrWindowRule rule;
  std::vector<LrSeries> series;  // by label (format.h: LabelOrder)
  int runs = 0;                  // that count
  int left_out = 0;              // that have not ended
};

// `apart_from`: fields that make no series of their own (rows.h).
LrWindows find_lr_windows(std::span<const ResultRow> rows, const LrWindowRule& rule = {},
                          const std::vector<std::string>& apart_from = {});

// Results that differ in rate and seed alone, by rate; and the best of these points, as above.
std::vector<RatePoint> rate_points(const std::vector<const ResultRow*>& results, const LrWindowRule& rule = {});
std::size_t best_rate(const std::vector<RatePoint>& points);

// "1.50", "at least 1.50" (it reaches an end of the grid), "0 (one rate)", "none".
std::string describe_width(const std::optional<RateWindow>& window);
// "1e-3 to 3.16e-2", "1e-3", "none".
std::string describe_range(const std::optional<RateWindow>& window);

}  // namespace mneme::report
