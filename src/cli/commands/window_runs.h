// The search for a window, carried out: which rates and seeds of one configuration are trained, and what came of them.
#pragma once

#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/commands/window_report.h"
#include "config/run_config.h"
#include "study/window_search.h"

namespace mneme::cli {

struct WindowPlan {
  ConfigValue root;  // a run; its rate and seed are set by the search
  double low = 1e-4, high = 1e-1;
  std::int64_t rates = 13;
  std::vector<std::int64_t> seeds = {42, 123, 777};
  study::WindowRule rule;
  std::int64_t budget = 0;    // runs; 0: half of the grid
  bool full = false;          // the whole grid instead
  bool best_has_all = false;  // then also the missing seeds of the best rate
};

// Throws Error(usage) for impossible numbers.
void check_plan(const WindowPlan& plan);

struct WindowOutcome {
  int exit_code = 0;  // not 0: stopped, or runs failed
  WindowReport report;
  std::vector<config::RunConfig> grid;
};

// Trains what the search wants and what the lab does not have yet.
WindowOutcome search_window(const WindowPlan& plan, const Context& context, int jobs);

}  // namespace mneme::cli
