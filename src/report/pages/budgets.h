// What solved runs needed: budgets by task and size, from the results that are kept in results/.
//
// A run has solved its task if its validation score (rows.h) reached kSolved. What it needed is the step of the first
// evaluation that did; a result without a curve counts with the step of its best evaluation, which is at most that
// much too late. Tasks that guessing nearly solves, and signals, are left out. Runs at every learning rate
// count, so those that did not solve it say little about the mixer.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "config/run_config.h"
#include "core/files.h"
#include "report/pages/table.h"
#include "report/stats/rows.h"

namespace mneme::report {

inline constexpr double kSolved = 0.9;

struct Budget {
  std::string task;         // "mqar"
  std::string size;         // "length 32, 4 pairs": its length and the options that are not at their defaults
  std::int64_t length = 0;  // of a sequence
  std::string mixer;
  std::int64_t batch = 0;
  std::int64_t runs = 0;            // that are kept
  std::int64_t most_steps = 0;      // that one of them was given
  std::vector<std::int64_t> steps;  // that the solved ones needed, ascending
  bool exact = true;                // false: some of them have no curve
};

// By task, length, size, mixer and batch. Rows that have not ended are left out.
std::vector<Budget> budgets_of(std::span<const ResultRow> rows);
// Of the results that are compiled in, and of those in a directory.
std::vector<Budget> shipped_budgets();
std::vector<Budget> budgets_in(const Path& results);

// One line a budget.
Table budget_table(const std::vector<Budget>& budgets);

// What `budgets` say of the runs of a study: a sentence for each of its tasks and sizes, the first few of them. Says so
// where nothing is known.
std::vector<std::string> budget_lines(std::span<const config::RunConfig> runs, const std::vector<Budget>& budgets);

}  // namespace mneme::report
