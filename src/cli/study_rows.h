// The runs of a lab as the rows that reports are made of.
#pragma once

#include <string>
#include <vector>

#include "report/kinds.h"
#include "report/rows.h"
#include "store/index.h"
#include "study/study.h"

namespace mneme {

// A run as the index knows it: configuration, outcome, accuracies, the values of its summary.
ResultRow row_of(const RunRecord& record);

// Adds what the figures read besides: evaluations from the index, signals from the run's directory. Throws Error(data)
// if they are damaged.
void add_details(ResultRow& row, const std::vector<FigureRequest>& figures, Index& index, const Lab& lab);

// The runs of a study that the lab has, with what its figures need; of all others nothing is known.
std::vector<ResultRow> rows_of(const Study& study, const std::vector<FigureRequest>& figures, Index& index,
                               const Lab& lab);

// The fingerprints of the machines that the runs were made on, each once, with the number of runs: "environment.json".
struct Environment {
  Json fingerprint;
  std::size_t runs = 0;
};
std::vector<Environment> environments_of(const std::vector<ResultRow>& rows, const Lab& lab);

}  // namespace mneme
