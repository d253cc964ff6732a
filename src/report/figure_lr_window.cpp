#include "report/figure_lr_window.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/figure_style.h"
#include "report/format.h"

namespace mneme {
namespace {

// Characters in a line, so that neither is wider than the plot with its labels.
constexpr std::size_t kTitleWidth = 44;
constexpr std::size_t kSubtitleWidth = 62;
constexpr int kMargin = kFigureWidth + 5;  // where the names of lines and the widths of windows stand

double percent(double fraction) { return 100 * fraction; }

struct Parts {
  std::vector<std::string> labels;
  LogAxis rate;
  Json color;  // encodings of the series, with their legend
  Json shape;
};

Json field(std::string_view name, std::string_view type, const Json& more = Json::object()) {
  Json encoding = {{"field", name}, {"type", type}};
  encoding.update(more);
  return encoding;
}

Json dataset(const char* name) { return {{"name", name}}; }

Json only(const char* condition) { return Json::array({{{"filter", condition}}}); }

Json tooltip(std::initializer_list<std::pair<const char*, const char*>> fields) {
  Json result = Json::array();
  for (const auto& [name, title] : fields) result.push_back({{"field", name}, {"title", title}});
  return result;
}

std::string short_width(const std::optional<RateWindow>& window) {
  if (!window) return "none";
  if (window->rates == 1) return "0";
  const bool open = window->reaches_lowest || window->reaches_highest;
  return fmt::format("{}{:.1f}", open ? "≥ " : "", window->decades());
}

Json mean_datum(const LrSeries& series, const RatePoint& point) {
  const Summary& test = point.test;
  return {{"series", series.label},
          {"rate", point.rate},
          {"rate_text", format_rate(point.rate)},
          {"mean", percent(test.mean)},
          {"min", percent(test.min)},
          {"max", percent(test.max)},
          {"summary", fmt::format("{} (min {}, max {}, n = {})", format_percent(test.mean), format_percent(test.min),
                                  format_percent(test.max), test.n)},
          {"trainable", point.trainable},
          {"range", describe_range(series.window)}};
}

Json seed_datum(const LrSeries& series, const RatePoint& point, const SeedResult& seed) {
  return {{"series", series.label},
          {"rate", point.rate},
          {"rate_text", format_rate(point.rate)},
          {"test", percent(seed.test)},
          {"test_text", format_percent(seed.test)},
          {"validation_text", format_percent(seed.validation)},
          {"seed", seed.seed},
          {"outcome", seed.outcome},
          {"run", seed.run}};
}

Json window_datum(const LrSeries& series) {
  Json datum = {{"series", series.label},
                {"range", describe_range(series.window)},
                {"width", short_width(series.window)},
                {"lo", nullptr},
                {"hi", nullptr}};
  if (series.window) {
    datum["lo"] = series.window->lo;
    datum["hi"] = series.window->hi;
  }
  return datum;
}

// Every table the figure is drawn from: a saved specification is also its own data.
Json datasets(const LrWindows& windows) {
  Json means = Json::array();
  Json seeds = Json::array();
  Json bars = Json::array();
  for (const LrSeries& series : windows.series) {
    for (const RatePoint& point : series.points) {
      means.push_back(mean_datum(series, point));
      for (const SeedResult& seed : point.seeds) seeds.push_back(seed_datum(series, point, seed));
    }
    bars.push_back(window_datum(series));
  }
  return {{"means", means}, {"seeds", seeds}, {"windows", bars}};
}

// Left-aligned text at `x` pixels; `y` is a value in pixels or an encoding.
Json text_layer(const Json& data, const char* name, int x, const Json& y, const char* color) {
  return {{"data", data},
          {"mark", {{"type", "text"}, {"align", "left"}, {"fontSize", 11}, {"color", color}}},
          {"encoding", {{"x", {{"value", x}}}, {"y", y}, {"text", field(name, "nominal")}}}};
}

Json heading(const std::string& text, int x) {
  const Json data = {{"values", Json::array({{{"name", text}}})}};
  return text_layer(data, "name", x, {{"value", -9}}, kQuietInk);
}

// A horizontal rule across the plot with its name in the right margin.
void add_reference_line(Json& layers, double value, const std::string& name, const Json& dash) {
  const Json data = {{"values", Json::array({{{"value", percent(value)}, {"name", name}}})}};
  const Json y = field("value", "quantitative");
  layers.push_back({{"data", data},
                    {"mark", {{"type", "rule"}, {"color", kQuietInk}, {"strokeDash", dash}}},
                    {"encoding", {{"y", y}}}});
  layers.push_back(text_layer(data, "name", kMargin, y, kQuietInk));
}

Json accuracy_panel(const LrWindows& windows, const std::optional<double>& chance, const Parts& parts) {
  Json rate_axis = parts.rate.axis;
  rate_axis["title"] = nullptr;
  rate_axis["labels"] = false;
  const Json x = field("rate", "quantitative", {{"scale", parts.rate.scale}, {"axis", rate_axis}});
  const auto y = [](const char* name) {
    const Json axis = {{"values", {0, 25, 50, 75, 100}}, {"labelOverlap", false}, {"title", "Test accuracy (%)"}};
    return field(name, "quantitative", {{"scale", {{"domain", {0, 100}}, {"nice", false}}}, {"axis", axis}});
  };
  const Json seed_tip = tooltip({{"series", "mixer"},
                                 {"rate_text", "learning rate"},
                                 {"test_text", "test %"},
                                 {"validation_text", "validation %"},
                                 {"seed", "seed"},
                                 {"outcome", "outcome"},
                                 {"run", "run"}});
  const Json mean_tip = tooltip({{"series", "mixer"}, {"rate_text", "learning rate"}, {"summary", "test %"}});
  // Many bands over each other hide the lines.
  const double band_opacity = windows.series.size() <= 4 ? 0.16 : 0.07;

  Json layers = Json::array();
  layers.push_back({{"data", dataset("means")},
                    {"mark", {{"type", "area"}, {"opacity", band_opacity}}},
                    {"encoding", {{"x", x}, {"y", y("min")}, {"y2", {{"field", "max"}}}, {"color", parts.color}}}});
  add_reference_line(layers, windows.rule.threshold, fmt::format("{:.0f} %", percent(windows.rule.threshold)), {5, 3});
  if (chance) add_reference_line(layers, *chance, "chance", {1, 3});
  layers.push_back({{"data", dataset("seeds")},
                    {"transform", only("datum.outcome === 'done'")},
                    {"mark", {{"type", "circle"}, {"size", 22}, {"opacity", 0.4}}},
                    {"encoding", {{"x", x}, {"y", y("test")}, {"color", parts.color}, {"tooltip", seed_tip}}}});
  layers.push_back({{"data", dataset("means")},
                    {"mark", {{"type", "line"}, {"strokeWidth", 2}}},
                    {"encoding", {{"x", x}, {"y", y("mean")}, {"color", parts.color}}}});
  layers.push_back(
      {{"data", dataset("means")},
       {"mark", {{"type", "point"}, {"filled", true}, {"opacity", 1}, {"size", 55}}},
       {"encoding",
        {{"x", x}, {"y", y("mean")}, {"color", parts.color}, {"shape", parts.shape}, {"tooltip", mean_tip}}}});
  layers.push_back({{"data", dataset("seeds")},
                    {"transform", only("datum.outcome !== 'done'")},
                    {"mark", {{"type", "text"}, {"text", "×"}, {"fontSize", 14}, {"color", kInk}}},
                    {"encoding", {{"x", x}, {"y", y("test")}, {"tooltip", seed_tip}}}});
  return {{"width", kFigureWidth}, {"height", kFigureHeight}, {"layer", layers}};
}

// Each rate of the grid as a dot, trainable ones large and coloured, those of the window joined.
Json window_panel(const LrWindows& windows, const Parts& parts) {
  const auto x = [&](const char* name) {
    return field(name, "quantitative", {{"scale", parts.rate.scale}, {"axis", parts.rate.axis}});
  };
  const Json axis = {{"title", nullptr}, {"ticks", false}, {"domain", false}, {"labelPadding", 8}};
  const Json y = field("series", "nominal", {{"scale", {{"domain", parts.labels}}}, {"axis", axis}});
  const Json tip = tooltip({{"series", "mixer"}, {"range", "window"}});
  Json color = parts.color;
  color["legend"] = nullptr;

  Json layers = Json::array();
  layers.push_back(
      {{"data", dataset("windows")},
       {"transform", only("isValid(datum.lo)")},
       {"mark", {{"type", "rule"}, {"strokeWidth", 5}}},
       {"encoding", {{"x", x("lo")}, {"x2", {{"field", "hi"}}}, {"y", y}, {"color", color}, {"tooltip", tip}}}});
  layers.push_back({{"data", dataset("means")},
                    {"transform", only("!datum.trainable")},
                    {"mark", {{"type", "circle"}, {"size", 14}, {"opacity", 1}, {"color", "#B5B5B5"}}},
                    {"encoding", {{"x", x("rate")}, {"y", y}, {"tooltip", tip}}}});
  layers.push_back({{"data", dataset("means")},
                    {"transform", only("datum.trainable")},
                    {"mark", {{"type", "circle"}, {"size", 70}, {"opacity", 1}}},
                    {"encoding", {{"x", x("rate")}, {"y", y}, {"color", color}, {"tooltip", tip}}}});
  layers.push_back(text_layer(dataset("windows"), "width", kMargin, y, kInk));
  const std::string share = windows.rule.share == 0.5 ? "half" : fmt::format("{:.0f} %", percent(windows.rule.share));
  layers.push_back(heading(
      fmt::format("Window: {} of the seeds at {:.0f} % or more on validation", share, percent(windows.rule.threshold)),
      0));
  layers.push_back(heading("decades", kMargin));
  return {{"width", kFigureWidth}, {"height", {{"step", 18}}}, {"layer", layers}};
}

Json subtitle(const LrWindows& windows, const LrWindowFigureText& text) {
  std::size_t least = windows.series.empty() ? 0 : windows.series.front().points.front().seeds.size();
  std::size_t most = least;
  bool ended_badly = false;
  for (const LrSeries& series : windows.series)
    for (const RatePoint& point : series.points) {
      least = std::min(least, point.seeds.size());
      most = std::max(most, point.seeds.size());
      for (const SeedResult& seed : point.seeds) ended_badly |= seed.outcome != "done";
    }
  std::string line = fmt::format("{}{} {} a rate, {} {}", least == most ? "" : fmt::format("{} to ", least), most,
                                 most == 1 ? "seed" : "seeds", windows.runs, windows.runs == 1 ? "run" : "runs");
  if (!text.scale.empty()) line += fmt::format(", {} scale", text.scale);
  if (windows.left_out > 0) line += fmt::format("; {} not ended", windows.left_out);

  std::string key;
  if (most > 1) key = "line: mean; band: min to max";
  if (ended_badly) key += key.empty() ? "×: diverged or failed" : "; ×: diverged or failed";

  Json lines = Json::array();
  for (const std::string& part : {text.setup, line, key})
    for (const Json& wrapped_line : wrapped(part, kSubtitleWidth)) lines.push_back(wrapped_line);
  return lines;
}

}  // namespace

Json lr_window_figure(const LrWindows& windows, const LrWindowFigureText& text) {
  Json figure = {{"$schema", "https://vega.github.io/schema/vega-lite/v5.json"},
                 {"description", text.title},
                 {"title", {{"text", wrapped(text.title, kTitleWidth)}, {"subtitle", subtitle(windows, text)}}},
                 {"config", figure_config()}};
  if (windows.series.empty()) {
    figure.update({{"data", {{"values", Json::array({{{"text", "no runs yet"}}})}}},
                   {"width", kFigureWidth},
                   {"height", kFigureHeight},
                   {"mark", {{"type", "text"}, {"fontSize", 14}, {"color", kQuietInk}}},
                   {"encoding", {{"text", field("text", "nominal")}}}});
    return figure;
  }
  Parts parts;
  std::vector<double> rates;
  for (const LrSeries& series : windows.series) {
    parts.labels.push_back(series.label);
    for (const RatePoint& point : series.points) rates.push_back(point.rate);
  }
  const Json legend = {{"title", nullptr}, {"columns", legend_columns(parts.labels)}};
  parts.rate = log_axis(rates, "Learning rate");
  parts.color = field("series", "nominal", {{"scale", color_scale(parts.labels)}, {"legend", legend}});
  parts.shape = field("series", "nominal", {{"scale", shape_scale(parts.labels)}, {"legend", legend}});

  figure["datasets"] = datasets(windows);
  figure["vconcat"] = {accuracy_panel(windows, text.chance, parts), window_panel(windows, parts)};
  figure["spacing"] = 10;
  // Each panel its own, or the lower one, which has no legend, would take away that of the upper one.
  figure["resolve"] = {{"scale", {{"color", "independent"}, {"shape", "independent"}}}};
  return figure;
}

}  // namespace mneme
