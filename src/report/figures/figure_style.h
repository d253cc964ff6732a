// The look that all figures share, and small helpers to build their specifications.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/json.h"

namespace mneme::report {

inline constexpr int kFigureWidth = 330;  // pixels of the plot itself; with labels one column of a paper
inline constexpr int kFigureHeight = 200;
inline constexpr const char* kInk = "#333333";
inline constexpr const char* kQuietInk = "#767676";

// Vega-Lite "config": fonts, sizes, axes, legend.
Json figure_config();

// Colour and symbol of the series with these labels, as {"domain": ..., "range": ...} of a scale.
// Any 42 neighbouring series differ in at least one of the two.
Json color_scale(const std::vector<std::string>& labels);
Json shape_scale(const std::vector<std::string>& labels);

// In how many columns a legend of these labels is no wider than the figure (at least one).
int legend_columns(const std::vector<std::string>& labels);

// Scale and axis of a positive quantity on a logarithmic axis that shows all values with a margin:
// minor ticks at 2..9, labels at powers of ten, or at 1, 2 and 5 where fewer than two powers are in range.
struct LogAxis {
  Json scale;
  Json axis;
  double lo = 0;
  double hi = 0;
};
// `format` is d3's.
LogAxis log_axis(const std::vector<double>& values, std::string_view title, const std::string& format = ".0e");

// Breaks a text into lines of at most `width` characters at spaces: Vega does not wrap.
Json wrapped(std::string_view text, std::size_t width);

}  // namespace mneme::report
