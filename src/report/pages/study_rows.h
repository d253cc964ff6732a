// The runs of a lab as the rows that reports are made of.
#pragma once

#include <string>
#include <vector>

#include "report/figures/kinds.h"
#include "report/stats/rows.h"
#include "store/index.h"
#include "study/study.h"

namespace mneme::report {

// A run as the index knows it: configuration, outcome, accuracies, the values of its summary.
ResultRow row_of(const store::RunRecord& record);

// Adds the evaluations.
void add_metrics(ResultRow& row, const std::vector<store::MetricRow>& metrics);

// Adds evaluations from the index and, if a figure reads them, signals from the run's directory.
// Throws Error(data) if they are damaged.
void add_details(ResultRow& row, const std::vector<FigureRequest>& figures, store::Index& index, const store::Lab& lab);

// All of this: a run with what these figures need.
ResultRow complete_row(const store::RunRecord& record, const config::RunConfig& run,
                       const std::vector<FigureRequest>& figures, store::Index& index, const store::Lab& lab);

// The runs of a study that the lab has, with what its figures need; nothing is known of the others.
std::vector<ResultRow> rows_of(const study::Study& study, const std::vector<FigureRequest>& figures,
                               store::Index& index, const store::Lab& lab);

// The fingerprints of the machines that the runs were made on, each once, with the number of runs: "environment.json".
struct Environment {
  Json fingerprint;
  std::size_t runs = 0;
};
std::vector<Environment> environments_of(const std::vector<ResultRow>& rows, const store::Lab& lab);

}  // namespace mneme::report
