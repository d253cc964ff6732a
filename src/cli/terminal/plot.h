// Curves as text, drawn with braille dots: each character holds 2 x 4 of them.
#pragma once

#include <string>
#include <vector>

namespace mneme::cli {

struct PlotPoint {
  double x = 0;
  double y = 0;
};

struct PlotFrame {
  std::string title;
  std::size_t columns = 72;  // of the whole picture, axis labels included
  std::size_t rows = 10;
  double low = 0, high = 1;  // of y
  std::string low_label = "0", high_label = "1";
};

// Lines ending in '\n': the title, the picture with the ends of the y axis labelled, and the ends of x.
// Neighbouring points are joined; points that are not finite are left out, and so is y outside the frame.
std::string plot(const std::vector<PlotPoint>& points, const PlotFrame& frame);

}  // namespace mneme::cli
