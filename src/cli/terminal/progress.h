// Showing what the executor does, on standard error.
//
// On a terminal: one line per running worker and a total line, redrawn in place, finished runs scrolling by
// above. Elsewhere: plain lines at the start, at evaluations (at most one per run in five seconds) and at
// the end of each run. Nothing is ever hidden or switched, so there is nothing to restore after a crash.
#pragma once

#include <memory>
#include <span>

#include "cli/terminal/terminal.h"
#include "report/pages/run_label.h"
#include "run/local_executor.h"

namespace mneme::cli {

std::unique_ptr<run::ExecutionObserver> make_progress(std::span<const config::RunConfig> runs,
                                                      report::RunLabels labels);

// The same for a given kind of terminal; tests write to a file.
std::unique_ptr<run::ExecutionObserver> make_progress(std::span<const config::RunConfig> runs, report::RunLabels labels,
                                                      std::FILE* stream, const Terminal& terminal);

// Only notes, for --json.
std::unique_ptr<run::ExecutionObserver> make_quiet_progress();

}  // namespace mneme::cli
