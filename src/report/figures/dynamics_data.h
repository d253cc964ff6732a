// What the figure "dynamics" shows, and its table.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/schema.h"
#include "report/pages/records.h"
#include "report/pages/table.h"
#include "report/stats/cells.h"
#include "report/stats/loss_drop.h"

namespace mneme::report {

struct RunDrops {
  const ResultRow* row;
  std::vector<LossDrop> drops;
};

struct Dynamics {
  Cells cells;                               // with all rates: a panel per model, a series per rate
  std::vector<std::vector<RunDrops>> drops;  // by cell
  bool has_bump = false;
  bool all_rates = false;
};

// `options` are those of kind = "dynamics". The rows must outlive the result.
Dynamics read_dynamics(std::span<const ResultRow> rows, const Options& options);

// What counts as a drop, one sentence without a full stop.
std::string drop_text(const Options& options);

// One line per cell: loss at the first and the last evaluation, when the task was solved, drops; the same for machines,
// one row per run.
Table dynamics_table(const Dynamics& dynamics, const Options& options);
Records dynamics_records(const Dynamics& dynamics, const Options& options);

}  // namespace mneme::report
