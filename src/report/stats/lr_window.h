// The window of learning rates in which a mixer can be trained, from the rows of a sweep.
//
// Rows are grouped into series (rows.h: series_labels), and in a series by learning rate over seeds. What a window is,
// when a rate is trainable and what an open end means is defined in study/window.h; the seeds of a series are all that
// any of its rates has, so a rate with some of them missing may be undecided. The window's uncertainty and differences
// between windows come from resampled seeds (study/window_seeds.h).
//
// The best rate is chosen by mean validation accuracy (the lower rate among equals); the test accuracy at
// that rate is what is reported, so that selection and report never use the same data.
//
// Runs that diverged or failed count with their last finite evaluation, or 0 if there was none
// (rows.h). Runs that have not ended are left out and counted.
// The result depends on the set of rows, not on their order.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "report/stats/rows.h"
#include "report/stats/statistics.h"
#include "study/window_seeds.h"

namespace mneme::report {

struct LrWindowRule : study::WindowRule {
  std::size_t seeds = 0;  // that a rate should have; at least as many as the series has
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
  bool trainable = false;  // known to be
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
  study::SeedGrid grid;           // the same accuracies, on validation
  std::optional<RateWindow> window;
  study::WindowUncertainty uncertainty;  // in decades
  std::size_t best = 0;                  // index into points
  // From the curves, where every run has one (curves.h): the window as it was after a part of the budget, and the
  // sensitivity to the rate.
  bool has_curves = false;
  std::optional<RateWindow> half, quarter;
  std::optional<Summary> sensitivity;  // over seeds
};

struct LrWindows {
  LrWindowRule rule;
  std::vector<LrSeries> series;  // by label (format.h: LabelOrder)
  int runs = 0;                  // that count
  int left_out = 0;              // that have not ended
};

// Two series and the difference of their windows in decades (no window: width 0).
struct ComparedWindows {
  const LrSeries *first = nullptr, *second = nullptr;
  std::size_t seeds = 0;  // of the one that has fewer: one says nothing of the uncertainty
  double difference = 0;  // first less second, as seen
  study::WindowComparison draws;
};
// Every two series, in their order; they point into `windows`.
std::vector<ComparedWindows> compare_all(const LrWindows& windows);

// `apart_from`: fields that make no series of their own (rows.h).
LrWindows find_lr_windows(std::span<const ResultRow> rows, const LrWindowRule& rule = {},
                          const std::vector<std::string>& apart_from = {});

// Results that differ in rate and seed alone, by rate; and the best of these points, as above.
std::vector<RatePoint> rate_points(const std::vector<const ResultRow*>& results, const LrWindowRule& rule = {});
std::size_t best_rate(const std::vector<RatePoint>& points);

// Results that differ in rate and seed alone as a grid, with what `value` says of each.
study::SeedGrid seed_grid(const std::vector<const ResultRow*>& results,
                          const std::function<double(const ResultRow&)>& value, std::size_t seeds = 0);

// "1.50", "at least 1.50" (it reaches an end of the grid), "0 (one rate)", "none".
std::string describe_width(const std::optional<RateWindow>& window);
// "1e-3 to 3.16e-2", "1e-3", "none".
std::string describe_range(const std::optional<RateWindow>& window);

// "± 0.25 over seeds, 95 % from 1.00 to 1.75", in decades: the width's standard deviation and the middle 95 % of its
// draws. One seed says nothing of either. `unit`: decades of a unit of the positions.
std::string describe_uncertainty(const study::WindowUncertainty& uncertainty, std::size_t seeds, double unit = 1);

}  // namespace mneme::report
