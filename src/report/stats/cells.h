// Rows sorted into the cells of a figure: which panel, which series, which point, and there the chosen rate.
//
// A panel is a combination of values of the fields `panels`; a point one of the fields `points`; a series is what
// remains (rows.h: series_labels). All learning rates and seeds of one of these meet in a cell, where the rate is
// chosen by mean validation accuracy (lr_window.h); figures then show the results at that rate, on the test split.
// Runs that have not ended are left out and counted. Nothing depends on the order of the rows.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "report/figures/spec.h"
#include "report/stats/lr_window.h"
#include "report/stats/rows.h"

namespace mneme::report {

struct CellFields {
  std::vector<std::string> panels;
  std::vector<std::string> points;
};

struct Cell {
  std::size_t panel = 0;  // index into Cells::panels
  std::string series;
  std::vector<Json> point;             // the values of CellFields::points; null for a field the run has not
  std::vector<RatePoint> rates;        // ascending, never empty
  std::size_t best = 0;                // index into rates
  std::vector<const ResultRow*> rows;  // the results at the best rate, by run id

  const RatePoint& chosen() const { return rates[best]; }
};

struct Cells {
  std::vector<std::string> panels;  // their names, by the values; one "" if no field of them varies
  std::vector<std::string> series;  // labels (format.h: LabelOrder)
  std::vector<Cell> cells;          // by panel, series, point
  Counts counts;                    // seeds: at the chosen rate of a cell
};

// A row's values of some fields; null for one that it has not.
std::vector<Json> values_at(const ResultRow& row, const std::vector<std::string>& fields);
// A name for each of these combinations of values: the fields that differ among them.
std::vector<std::string> panel_names(const std::vector<std::vector<Json>>& panels,
                                     const std::vector<std::string>& fields);

// The rows must outlive the result.
Cells sort_into_cells(std::span<const ResultRow> rows, const CellFields& fields);

// "mean ± standard error" in per cent; the mean alone of one seed.
std::string mean_and_error(const Summary& summary);
// "97.1 to 99.5": the 95 % confidence interval in per cent, within 0 and 100; "-" of one seed.
std::string interval_text(const Summary& summary);
// "98.3 (min 97.1, max 99.0, n = 3)".
std::string summary_text(const Summary& summary);

}  // namespace mneme::report
