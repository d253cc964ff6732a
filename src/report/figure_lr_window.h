// The figure of a learning-rate window study, as a Vega-Lite v5 specification.
#pragma once

#include <optional>
#include <string>

#include "core/json.h"
#include "report/lr_window.h"

namespace mneme {

struct LrWindowFigureText {
  std::string title;
  std::string setup;             // task and model, for the subtitle (rows.h: setup_line)
  std::string scale;             // "smoke", "laptop", "paper"; may be empty
  std::optional<double> chance;  // accuracy of guessing, as a fraction
};

// Two panels over one logarithmic axis of learning rates.
// Above: test accuracy in per cent; for each series the mean over seeds as a line with symbols, the
// min-max band, each seed as a faint point (a cross if it diverged or failed), a rule at the threshold and
// one at chance. Below: the window of each series as a bar with its width in decades.
// Series differ in colour (Okabe-Ito, safe for colour-blind readers) and in symbol, so the figure also
// reads in black and white. All data is inside; nothing is loaded. Sized for one column of a paper.
Json lr_window_figure(const LrWindows& windows, const LrWindowFigureText& text);

}  // namespace mneme
