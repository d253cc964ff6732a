#include "report/figures/figure_style.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/error.h"
#include "core/text.h"
#include "report/stats/format.h"

namespace mneme::report {
namespace {

// Okabe and Ito's palette without its yellow, which is too light for lines on white.
constexpr std::array kColors{"#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000"};
constexpr std::array kShapes{"circle", "square", "triangle-up", "diamond", "triangle-down", "cross"};

constexpr int kLegendLimit = 160;  // pixels; a longer label ends in an ellipsis

template <std::size_t N>
Json cyclic_scale(const std::vector<std::string>& labels, const std::array<const char*, N>& values) {
  Json range = Json::array();
  for (std::size_t i = 0; i < labels.size(); ++i) range.push_back(values[i % N]);
  return {{"domain", labels}, {"range", range}};
}

std::size_t characters(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

// m * 10^e for all m in 1..9 in [lo, hi], rounded as the literal would be, so that Vega compares equal.
std::vector<std::pair<int, double>> log_ticks(double lo, double hi) {
  std::vector<std::pair<int, double>> ticks;
  const int first = static_cast<int>(std::floor(std::log10(lo)));
  const int last = static_cast<int>(std::ceil(std::log10(hi)));
  for (int exponent = first; exponent <= last; ++exponent)
    for (int digit = 1; digit <= 9; ++digit) {
      const double tick = std::stod(std::to_string(digit) + "e" + std::to_string(exponent));
      if (tick >= lo && tick <= hi) ticks.emplace_back(digit, tick);
    }
  return ticks;
}

}  // namespace

Json figure_config() {
  return {{"background", "white"},
          {"font", "Helvetica Neue, Helvetica, Arial, Liberation Sans, DejaVu Sans, sans-serif"},
          {"view", {{"stroke", nullptr}}},
          {"title",
           {{"anchor", "start"},
            {"frame", "bounds"},
            {"fontSize", 14},
            {"fontWeight", 600},
            {"color", kInk},
            {"subtitleFontSize", 11},
            {"subtitleColor", kQuietInk},
            {"subtitlePadding", 4},
            {"offset", 10}}},
          {"axis",
           {{"labelFontSize", 12},
            {"titleFontSize", 12},
            {"titleFontWeight", 500},
            {"labelColor", kInk},
            {"titleColor", kInk},
            {"domainColor", kInk},
            {"tickColor", kInk},
            {"gridColor", "#E6E6E6"},
            {"labelLimit", 120}}},
          {"legend",
           {{"orient", "top"},
            {"direction", "horizontal"},
            {"title", nullptr},
            {"labelFontSize", 12},
            {"labelColor", kInk},
            {"labelLimit", kLegendLimit},
            {"symbolSize", 70},
            {"symbolOpacity", 1},
            {"columnPadding", 14},
            {"offset", 8}}}};
}

Json color_scale(const std::vector<std::string>& labels) { return cyclic_scale(labels, kColors); }
Json shape_scale(const std::vector<std::string>& labels) { return cyclic_scale(labels, kShapes); }

int legend_columns(const std::vector<std::string>& labels) {
  constexpr int kCharacter = 8;  // generous, in pixels, at the legend's font size
  constexpr int kSymbolAndGap = 34;
  constexpr int kRoom = kFigureWidth + 60;
  int widest = 1;
  int sum = 0;
  for (const std::string& label : labels) {
    const int width = std::min(kLegendLimit, kCharacter * static_cast<int>(characters(label))) + kSymbolAndGap;
    widest = std::max(widest, width);
    sum += width;
  }
  return sum <= kRoom ? std::max<int>(1, static_cast<int>(labels.size())) : std::max(1, kRoom / widest);
}

LogAxis log_axis(const std::vector<double>& values, std::string_view title, const std::string& format) {
  require(!values.empty(), "a logarithmic axis needs a value");
  const auto [least, greatest] = std::minmax_element(values.begin(), values.end());
  require(*least > 0, "a logarithmic axis needs positive values");
  // One value alone still needs a range wide enough to hold a labelled tick on each side.
  const double margin = *least == *greatest ? 3.0 : std::max(1.15, std::pow(*greatest / *least, 0.05));
  const double lo = *least / margin;
  const double hi = *greatest * margin;

  const auto ticks = log_ticks(lo, hi);
  const auto powers = std::count_if(ticks.begin(), ticks.end(), [](const auto& tick) { return tick.first == 1; });
  // Labels of many powers would overlap: then every second, third, ... has one, and nothing between powers has a tick.
  constexpr std::ptrdiff_t kMostLabels = 9;
  const std::ptrdiff_t every = (powers + kMostLabels - 1) / kMostLabels;
  Json all = Json::array();
  Json labelled = Json::array();
  for (const auto& [digit, tick] : ticks) {
    if (every > 1 && digit != 1) continue;
    all.push_back(tick);
    const bool own = every <= 1 || std::lround(std::log10(tick)) % every == 0;
    if (digit == 1 ? own : powers < 2 && (digit == 2 || digit == 5)) labelled.push_back(tick);
  }
  const std::string is_labelled = "indexof(" + labelled.dump() + ", datum.value) >= 0";
  return {.scale = {{"type", "log"}, {"domain", {lo, hi}}, {"nice", false}},
          .axis = {{"title", title},
                   {"values", all},
                   {"labelExpr", is_labelled + " ? format(datum.value, '" + format + "') : ''"},
                   {"labelOverlap", false},
                   {"labelFlush", false},
                   {"tickSize", {{"condition", {{"test", is_labelled}, {"value", 6}}}, {"value", 3}}},
                   {"gridOpacity", {{"condition", {{"test", is_labelled}, {"value", 1}}}, {"value", 0}}}},
          .lo = lo,
          .hi = hi};
}

Json wrapped(std::string_view text, std::size_t width) {
  Json lines = Json::array();
  std::string line;
  for (const std::string& word : split(text, ' ')) {
    if (!line.empty() && characters(line) + 1 + characters(word) > width) {
      lines.push_back(line);
      line.clear();
    }
    line += line.empty() ? word : " " + word;
  }
  if (!line.empty()) lines.push_back(line);
  return lines;
}

}  // namespace mneme::report
