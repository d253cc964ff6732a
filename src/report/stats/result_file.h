// The results of a study as small data that can be kept in a repository: one JSON object a line and run.
//
//   {"run": "876ec1ca3cf2", "mixer": "mamba", "lr": 0.01, "seed": 42, "outcome": "done", "steps": 1900,
//    "validation": 0.99, "test": 0.98, "values": {...}, "metrics": [[step, train_loss, loss, accuracy], ...]}
//
// The id is the hash of the run's configuration, so the study gives the configuration back; mixer, rate and seed are
// for the reader. `values` are those of the summary without the hash of the weights; `metrics` are there if a figure
// of the study needs them. Numbers that are not finite are null.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/run_config.h"
#include "report/stats/rows.h"

namespace mneme::report {

// Results only (rows.h: is_result), by id.
std::string write_results(std::span<const ResultRow> rows);

// Throws Error(data) with file and line for text that is not such a file, or for a run that is not among `runs`: the
// study has changed since. `file` is for messages.
std::vector<ResultRow> read_results(std::string_view text, std::string_view file,
                                    std::span<const config::RunConfig> runs);

}  // namespace mneme::report
