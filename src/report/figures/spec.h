// Pieces of Vega-Lite specifications that the builders share.
#pragma once

#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/json.h"

namespace mneme::report {

// An encoding of a field: {"field": name, "type": type, ...more}.
Json field(std::string_view name, std::string_view type, const Json& more = Json::object());
Json dataset(std::string_view name);
Json only(std::string_view condition);  // a filter, as a transform
// The filter that keeps the data of a panel, by its place in the figure.
Json only_panel(std::size_t panel, std::string_view and_condition = "");
Json tooltip(std::initializer_list<std::pair<const char*, const char*>> fields);  // field, title

// y in per cent from 0 to 100.
Json percent_axis(std::string_view name, std::string_view title);
// "accuracy" -> "Test accuracy (%)".
std::string score_axis(std::string_view score);

// Left-aligned text at `x` pixels; `y` is a value in pixels or an encoding.
Json text_layer(const Json& data, const char* name, int x, const Json& y, const char* color);
// A horizontal rule across the plot at a percentage, and its name in the margin at `margin` pixels.
void add_level(Json& layers, double fraction, const std::string& name, const Json& dash, int margin);
// A vertical dashed rule at each x, on the scale of the encoding `x` (its field is replaced).
Json vertical_rules(const std::vector<double>& at, Json x, const char* color);

// The dataset "paper" of a panel as stars, filled with the colour of the series, at the given encodings.
Json paper_stars(std::size_t panel, const Json& x, const Json& y, const Json& color);

// Colour and symbol of series, as encodings of the field "series" with one legend.
struct SeriesEncoding {
  Json color;
  Json shape;
};
SeriesEncoding series_encoding(const std::vector<std::string>& labels);

// The dataset `data` of a panel as curves: fields mean, min and max against `x`. `y` makes the axis of a field.
struct CurveLayers {
  Json band;    // min to max
  Json line;    // mean
  Json points;  // a symbol at each mean, with the tooltip
};
CurveLayers curve_layers(std::string_view data, std::size_t panel, const std::vector<std::string>& series,
                         const Json& x, const std::function<Json(const char*)>& y, const Json& tip);

// What a figure rests on; every figure states it under its title.
struct Counts {
  int runs = 0;
  int left_out = 0;  // have not ended
  std::size_t least_seeds = 0, most_seeds = 0;
  bool ended_badly = false;  // one diverged or failed
};
// "3 seeds per rate, 63 runs, laptop scale; 2 not ended".
std::string counts_text(const Counts& counts, std::string_view of_each, std::string_view scale);

// Sizes of one panel among several: one alone is as wide as a column of a paper, several share the width of two.
struct PanelSize {
  int width, height, columns;
};
PanelSize panel_size(std::size_t panels);

// Schema, style, the title and a subtitle of these lines, broken where they are too long for `panels` panels.
Json figure_head(const std::string& title, const std::vector<std::string>& lines, std::size_t panels = 1);
// One panel fills the figure; several are laid out in lines, each under its name.
void add_panels(Json& figure, std::vector<Json> panels, const std::vector<std::string>& names);
// A figure that says why it is empty.
Json empty_figure(const std::string& title, const std::vector<std::string>& lines, const std::string& why);

}  // namespace mneme::report
