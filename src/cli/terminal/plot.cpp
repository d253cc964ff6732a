#include "cli/terminal/plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cli/terminal/terminal.h"
#include "core/text.h"

namespace mneme::cli {
namespace {

class Canvas {
 public:
  Canvas(std::size_t columns, std::size_t rows) : columns_(columns), cells_(columns * rows, 0) {}

  void dot(std::size_t x, std::size_t y) {
    // Unicode numbers the dots of a cell column by column, the fourth row last.
    static constexpr unsigned char kBits[4][2] = {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};
    cells_[y / 4 * columns_ + x / 2] |= kBits[y % 4][x % 2];
  }

  void line(double x0, double y0, double x1, double y1) {
    const int steps = std::max(1, static_cast<int>(std::ceil(std::max(std::abs(x1 - x0), std::abs(y1 - y0)))));
    for (int i = 0; i <= steps; ++i) {
      const double share = static_cast<double>(i) / steps;
      dot(static_cast<std::size_t>(std::lround(x0 + share * (x1 - x0))),
          static_cast<std::size_t>(std::lround(y0 + share * (y1 - y0))));
    }
  }

  std::string row(std::size_t number) const {
    std::string text;
    for (std::size_t i = 0; i < columns_; ++i) {
      const unsigned cell = cells_[number * columns_ + i];
      if (cell == 0) {
        text += ' ';
        continue;
      }
      // U+2800 + cell, in UTF-8.
      text += {static_cast<char>(0xe2), static_cast<char>(0xa0 + (cell >> 6)), static_cast<char>(0x80 + (cell & 0x3f))};
    }
    return text;
  }

 private:
  std::size_t columns_;
  std::vector<unsigned char> cells_;
};

}  // namespace

std::string plot(const std::vector<PlotPoint>& points, const PlotFrame& frame) {
  const std::size_t margin = std::max(display_width(frame.low_label), display_width(frame.high_label));
  const std::size_t columns = std::max<std::size_t>(frame.columns, margin + 12) - margin - 2;
  Canvas canvas(columns, frame.rows);

  std::vector<PlotPoint> shown;
  for (const PlotPoint& point : points)
    if (std::isfinite(point.x) && std::isfinite(point.y)) shown.push_back(point);
  if (shown.empty()) return frame.title + "\n  (no points yet)\n";
  const auto [first, last] =
      std::minmax_element(shown.begin(), shown.end(), [](auto& a, auto& b) { return a.x < b.x; });
  const double x_low = first->x, x_high = last->x;
  const auto across = static_cast<double>(2 * columns - 1), down = static_cast<double>(4 * frame.rows - 1);
  const auto place = [&](const PlotPoint& point) {
    const double x = x_high > x_low ? (point.x - x_low) / (x_high - x_low) : 0.0;
    const double y = (std::clamp(point.y, frame.low, frame.high) - frame.low) / (frame.high - frame.low);
    return PlotPoint{x * across, (1 - y) * down};
  };
  for (std::size_t i = 0; i < shown.size(); ++i) {
    const PlotPoint to = place(shown[i]), from = i == 0 ? to : place(shown[i - 1]);
    canvas.line(from.x, from.y, to.x, to.y);
  }

  std::string text = frame.title + "\n";
  for (std::size_t row = 0; row < frame.rows; ++row) {
    const std::string label = row == 0 ? frame.high_label : row + 1 == frame.rows ? frame.low_label : "";
    text += std::string(margin - display_width(label), ' ') + label + " ┤" + canvas.row(row);
    text.erase(text.find_last_not_of(' ') + 1);
    text += '\n';
  }
  const std::string left = grouped(std::llround(x_low)), right = "step " + grouped(std::llround(x_high));
  const std::size_t gap = columns > left.size() + right.size() ? columns - left.size() - right.size() : 1;
  return text + std::string(margin + 2, ' ') + left + std::string(gap, ' ') + right + "\n";
}

}  // namespace mneme::cli
