// The results of a study as small data that can be kept in a repository: one JSON object a line and run.
//
//   {"run": "876ec1ca3cf2", "mixer": "mamba", "lr": 0.01, "seed": 42, "config": {...}, "outcome": "done",
//    "steps": 1900, "tokens_per_step": 8192, "initial_loss": 9.0109, "validation": 0.99, "test": 0.98,
//    "values": {...}, "curve": [[step, loss, accuracy, train_loss, exact_match], ...]}
//
// `config` holds what differs from the defaults (config/short_config.h) and resolves to the id; mixer, rate and seed
// are for the reader. `values` are those of the summary without the hash of the weights. `curve` has one entry an
// evaluation: validation loss, accuracy, training loss since the evaluation before, and exact match where the task has
// it, each to six digits. Numbers that are not finite are null. Lines are in the order of the ids.
//
// Results accumulate: a file may have lines of runs that the study no longer plans. Files of an earlier version have
// neither config nor curve; they may have `metrics`: [[step, train_loss, loss, accuracy], ...].
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

// The lines of `kept` and those of the rows. A row's line takes the place of a kept line of the same run; no other line
// is touched. Throws Error(data) with file and line if `kept` is not such a file.
std::string merge_results(std::string_view kept, std::string_view file, std::span<const ResultRow> rows);

struct KeptResults {
  std::vector<ResultRow> rows;  // of the planned runs, by id
  std::size_t not_planned = 0;  // lines of other runs: the study's settings were others when they were kept
};

// `runs` are those that the study plans. Throws Error(data) with file and line for text that is not such a file, and
// for a line whose configuration is not the one that its id names. `file` is for messages.
KeptResults read_results(std::string_view text, std::string_view file, std::span<const config::RunConfig> runs);

}  // namespace mneme::report
