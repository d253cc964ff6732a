// What `mneme window` prints.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/json.h"
#include "report/stats/rows.h"
#include "store/lab.h"
#include "study/window_search.h"
#include "study/window_seeds.h"

namespace mneme::cli {

struct WindowRun {
  std::size_t rate = 0;
  std::int64_t seed = 0;
  std::string id;
  double validation = 0;
  Json summary;
};

struct WindowReport {
  std::string mixer;
  study::WindowRule rule;
  std::vector<double> rates;
  std::vector<WindowRun> runs;  // spent, by rate
  std::size_t grid_runs = 0;
  std::optional<study::Window> found;
  study::WindowUncertainty uncertainty;
};

Json window_json(const WindowReport& report);
// The rates that were tried, the window, its uncertainty and its price, on standard output; or one JSON document.
void print_window(const WindowReport& report, bool json);
// The usual page, figure and tables, and window.json, into reports/NAME.
void write_window(const WindowReport& report, const std::string& name, const std::vector<report::ResultRow>& rows,
                  double chance, const store::Lab& lab, bool quiet);

}  // namespace mneme::cli
