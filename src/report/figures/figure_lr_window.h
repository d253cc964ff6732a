// The figure of a learning-rate window study, as a Vega-Lite v5 specification.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/json.h"
#include "report/stats/lr_window.h"

namespace mneme::report {

struct LrWindowFigureText {
  std::string title;
  std::string setup;               // task and model, for the subtitle (rows.h: setup_line)
  std::string scale;               // "laptop", "workstation", ...; may be empty
  std::optional<double> chance;    // accuracy of guessing, as a fraction
  std::string score = "accuracy";  // what is drawn, of the test split (rows.h: score_name)
  std::vector<double> marks = {};  // rates of a coarser grid: dashed vertical lines
};

// The runs of one value of what makes panels ("length 64").
struct LrPanel {
  std::string name;
  LrWindows windows;
};

// Two plots over one logarithmic axis of learning rates, for each panel.
// Above: the test score in per cent; for each series the mean over seeds as a line with symbols, the
// min-max band, each seed as a faint point (a cross if it diverged or failed), a rule at the threshold and
// one at chance. Below: the window of each series as a bar with its width in decades.
// Series differ in colour (Okabe-Ito, safe for colour-blind readers) and in symbol, so the figure also
// reads in black and white. All data is inside; nothing is loaded. One panel is as wide as a column of a paper.
Json lr_window_figure(const std::vector<LrPanel>& panels, const LrWindowFigureText& text);
Json lr_window_figure(const LrWindows& windows, const LrWindowFigureText& text);

// False if there are more than 2,000: then some of each rate's seeds are drawn, evenly from the worst to the best.
bool draws_every_seed(const std::vector<LrPanel>& panels);

}  // namespace mneme::report
