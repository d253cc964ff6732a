#include "report/figures/spec.h"

#include <fmt/format.h>

#include "report/figures/figure_style.h"

namespace mneme::report {
namespace {

// Characters in a line, so that none is wider than the plot with its labels.
constexpr std::size_t kTitleWidth = 44;
constexpr std::size_t kSubtitleWidth = 62;

}  // namespace

Json field(std::string_view name, std::string_view type, const Json& more) {
  Json encoding = {{"field", name}, {"type", type}};
  encoding.update(more);
  return encoding;
}

Json dataset(std::string_view name) { return {{"name", name}}; }

Json only(std::string_view condition) { return Json::array({{{"filter", condition}}}); }

Json only_panel(std::size_t panel, std::string_view and_condition) {
  const std::string here = fmt::format("datum.panel === {}", panel);
  return only(and_condition.empty() ? here : fmt::format("{} && {}", here, and_condition));
}

Json tooltip(std::initializer_list<std::pair<const char*, const char*>> fields) {
  Json result = Json::array();
  for (const auto& [name, title] : fields) result.push_back({{"field", name}, {"title", title}});
  return result;
}

std::string score_axis(std::string_view score) { return fmt::format("Test {} (%)", score); }

Json percent_axis(std::string_view name, std::string_view title) {
  const Json axis = {{"values", {0, 25, 50, 75, 100}}, {"labelOverlap", false}, {"title", title}};
  return field(name, "quantitative", {{"scale", {{"domain", {0, 100}}, {"nice", false}}}, {"axis", axis}});
}

Json text_layer(const Json& data, const char* name, int x, const Json& y, const char* color) {
  return {{"data", data},
          {"mark", {{"type", "text"}, {"align", "left"}, {"fontSize", 11}, {"color", color}}},
          {"encoding", {{"x", {{"value", x}}}, {"y", y}, {"text", field(name, "nominal")}}}};
}

void add_level(Json& layers, double fraction, const std::string& name, const Json& dash, int margin) {
  const Json data = {{"values", Json::array({{{"value", 100 * fraction}, {"name", name}}})}};
  const Json y = field("value", "quantitative");
  layers.push_back({{"data", data},
                    {"mark", {{"type", "rule"}, {"color", kQuietInk}, {"strokeDash", dash}}},
                    {"encoding", {{"y", y}}}});
  layers.push_back(text_layer(data, "name", margin, y, kQuietInk));
}

Json vertical_rules(const std::vector<double>& at, Json x, const char* color) {
  Json values = Json::array();
  for (const double one : at) values.push_back({{"at", one}});
  x["field"] = "at";
  return {{"data", {{"values", values}}},
          {"mark", {{"type", "rule"}, {"color", color}, {"strokeDash", {5, 4}}}},
          {"encoding", {{"x", x}}}};
}

Json paper_stars(std::size_t panel, const Json& x, const Json& y, const Json& color) {
  constexpr const char* kStar =
      "M0,-1L0.2245,-0.309L0.9511,-0.309L0.3633,0.118L0.5878,0.809L0,0.382L-0.5878,0.809L-0.3633,0.118L-0.9511,-0.309"
      "L-0.2245,-0.309Z";
  return {{"data", dataset("paper")},
          {"transform", only_panel(panel)},
          {"mark",
           {{"type", "point"},
            {"shape", kStar},
            {"filled", true},
            {"opacity", 1},
            {"size", 90},
            {"stroke", kInk},
            {"strokeWidth", 0.8}}},
          {"encoding", {{"x", x}, {"y", y}, {"color", color}}}};
}

SeriesEncoding series_encoding(const std::vector<std::string>& labels) {
  const Json legend = {{"title", nullptr}, {"columns", legend_columns(labels)}};
  return {.color = field("series", "nominal", {{"scale", color_scale(labels)}, {"legend", legend}}),
          .shape = field("series", "nominal", {{"scale", shape_scale(labels)}, {"legend", legend}})};
}

CurveLayers curve_layers(std::string_view data, std::size_t panel, const std::vector<std::string>& series,
                         const Json& x, const std::function<Json(const char*)>& y, const Json& tip) {
  const SeriesEncoding encoding = series_encoding(series);
  const auto layer = [&](const Json& mark, const Json& encodings) -> Json {
    return {{"data", dataset(data)}, {"transform", only_panel(panel)}, {"mark", mark}, {"encoding", encodings}};
  };
  // Many bands over each other must stay light.
  return {
      .band = layer({{"type", "area"}, {"opacity", series.size() <= 4 ? 0.16 : 0.07}},
                    {{"x", x}, {"y", y("min")}, {"y2", {{"field", "max"}}}, {"color", encoding.color}}),
      .line = layer({{"type", "line"}, {"strokeWidth", 2}}, {{"x", x}, {"y", y("mean")}, {"color", encoding.color}}),
      .points =
          layer({{"type", "point"}, {"filled", true}, {"opacity", 1}, {"size", 50}},
                {{"x", x}, {"y", y("mean")}, {"color", encoding.color}, {"shape", encoding.shape}, {"tooltip", tip}})};
}

std::string counts_text(const Counts& counts, std::string_view of_each, std::string_view scale) {
  std::string line = fmt::format(
      "{}{} {} {}, {} {}", counts.least_seeds == counts.most_seeds ? "" : fmt::format("{} to ", counts.least_seeds),
      counts.most_seeds, counts.most_seeds == 1 ? "seed" : "seeds", of_each, counts.runs,
      counts.runs == 1 ? "run" : "runs");
  if (!scale.empty()) line += fmt::format(", {} scale", scale);
  if (counts.left_out > 0) line += fmt::format("; {} not ended", counts.left_out);
  return line;
}

PanelSize panel_size(std::size_t panels) {
  if (panels <= 1) return {kFigureWidth, kFigureHeight, 1};
  if (panels == 2 || panels == 4) return {250, 160, 2};
  return {200, 140, 3};
}

Json figure_head(const std::string& title, const std::vector<std::string>& lines, std::size_t panels) {
  const auto room = [&](std::size_t characters) {
    const PanelSize size = panel_size(panels);
    return characters * static_cast<std::size_t>(size.width * size.columns) / kFigureWidth;
  };
  Json subtitle = Json::array();
  for (const std::string& line : lines)
    for (const Json& part : wrapped(line, room(kSubtitleWidth))) subtitle.push_back(part);
  return {{"$schema", "https://vega.github.io/schema/vega-lite/v5.json"},
          {"description", title},
          {"title", {{"text", wrapped(title, room(kTitleWidth))}, {"subtitle", subtitle}}},
          {"config", figure_config()}};
}

void add_panels(Json& figure, std::vector<Json> panels, const std::vector<std::string>& names) {
  if (panels.size() == 1) {
    figure.update(panels.front());
    return;
  }
  for (std::size_t i = 0; i < panels.size(); ++i)
    panels[i]["title"] = {{"text", names[i]}, {"fontSize", 12}, {"fontWeight", 500}, {"offset", 6}, {"frame", "group"}};
  figure["concat"] = panels;
  figure["columns"] = panel_size(panels.size()).columns;
  figure["spacing"] = 22;
}

Json empty_figure(const std::string& title, const std::vector<std::string>& lines, const std::string& why) {
  Json figure = figure_head(title, lines);
  figure.update({{"data", {{"values", Json::array({{{"text", why}}})}}},
                 {"width", kFigureWidth},
                 {"height", kFigureHeight},
                 {"mark", {{"type", "text"}, {"fontSize", 14}, {"color", kQuietInk}}},
                 {"encoding", {{"text", field("text", "nominal")}}}});
  return figure;
}

}  // namespace mneme::report
