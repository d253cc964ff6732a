// Models against conditions, and which passes.
//
// A line is a series (a model), a column a combination of the values of the fields `columns`, a metric and, for a
// metric of the generalisation axis, a value of it. The cell holds the seeds at the rate chosen on validation: it
// passes if the mean of the metric over them is >= threshold (share = "mean"), or if the share of them that are at the
// threshold is >= share. A metric is a path into the values of the summary ("test.accuracy", "phases.two_isi"); true
// counts 1, false 0. "generalisation.accuracy" gives a column for each tested value. Runs that diverged or failed
// count 0 where they have no such number; a run that is done and has none does not count.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "report/figures/figure_kind.h"
#include "report/stats/cells.h"
#include "report/stats/statistics.h"

namespace mneme::report {

struct MatrixCell {
  Summary summary;
  bool passes = false;
  std::optional<bool> paper;  // its verdict; from its value and the threshold if it gives no other
  std::string paper_text;
  std::vector<std::string> runs;
};

struct Matrix {
  std::vector<std::string> models;   // sorted
  std::vector<std::string> columns;  // by value of the fields, then metric, then value of the axis
  std::map<std::pair<std::size_t, std::size_t>, MatrixCell> cells;  // by model and column; what was not run is absent
  Counts counts;
};

// A metric of one run, as above; nothing if it is done and has none. Throws Error(data) for what is no number.
std::optional<double> metric_of(const ResultRow& row, const std::string& path);

// `options` are those of kind = "matrix".
Matrix make_matrix(std::span<const ResultRow> rows, const FigureSubject& subject, const Options& options);

}  // namespace mneme::report
