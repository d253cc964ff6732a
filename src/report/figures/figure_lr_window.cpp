#include "report/figures/figure_lr_window.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "report/figures/figure_style.h"
#include "report/figures/spec.h"
#include "report/stats/cells.h"
#include "report/stats/format.h"

namespace mneme::report {
namespace {

double percent(double fraction) { return 100 * fraction; }

// What all plots of the figure share.
struct Parts {
  std::vector<std::string> labels;
  LogAxis rate;
  SeriesEncoding series;
  PanelSize size;
  int margin = 0;  // where the names of lines and the widths of windows are
};

std::string short_width(const std::optional<RateWindow>& window) {
  if (!window) return "none";
  if (window->rates == 1) return "0";
  const bool open = window->reaches_lowest || window->reaches_highest;
  return fmt::format("{}{:.1f}", open ? "≥ " : "", window->decades());
}

Json mean_datum(std::size_t panel, const LrSeries& series, const RatePoint& point) {
  return {{"panel", panel},
          {"series", series.label},
          {"rate", point.rate},
          {"rate_text", format_rate(point.rate)},
          {"mean", percent(point.test.mean)},
          {"min", percent(point.test.min)},
          {"max", percent(point.test.max)},
          {"summary", summary_text(point.test)},
          {"trainable", point.trainable},
          {"range", describe_range(series.window)}};
}

Json seed_datum(std::size_t panel, const LrSeries& series, const RatePoint& point, const SeedResult& seed) {
  return {{"panel", panel},
          {"series", series.label},
          {"rate", point.rate},
          {"rate_text", format_rate(point.rate)},
          {"test", percent(seed.test)},
          {"test_text", format_percent(seed.test)},
          {"validation_text", format_percent(seed.validation)},
          {"seed", seed.seed},
          {"outcome", seed.outcome},
          {"run", seed.run}};
}

// Dots that a figure has room for, and that a browser draws in a moment.
constexpr std::size_t kMostDots = 2000, kFewestAtOnePoint = 20;

std::size_t seeds_in(const std::vector<LrPanel>& panels, std::size_t& points) {
  std::size_t seeds = 0;
  points = 0;
  for (const LrPanel& panel : panels)
    for (const LrSeries& series : panel.windows.series)
      for (const RatePoint& point : series.points) {
        seeds += point.seeds.size();
        ++points;
      }
  return seeds;
}

// At most `limit` of a point's seeds: from the worst to the best, evenly by rank. Means and ranges are of all.
std::vector<const SeedResult*> chosen_seeds(const RatePoint& point, std::size_t limit) {
  std::vector<const SeedResult*> seeds;
  for (const SeedResult& seed : point.seeds) seeds.push_back(&seed);
  if (seeds.size() <= limit) return seeds;
  std::stable_sort(seeds.begin(), seeds.end(),
                   [](const SeedResult* a, const SeedResult* b) { return a->test < b->test; });
  std::vector<const SeedResult*> chosen;
  for (std::size_t i = 0; i < limit; ++i) chosen.push_back(seeds[i * (seeds.size() - 1) / (limit - 1)]);
  return chosen;
}

Json window_datum(std::size_t panel, const LrSeries& series) {
  Json datum = {{"panel", panel},
                {"series", series.label},
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
Json datasets(const std::vector<LrPanel>& panels) {
  Json means = Json::array();
  Json seeds = Json::array();
  Json bars = Json::array();
  std::size_t points = 0;
  const std::size_t limit =
      seeds_in(panels, points) <= kMostDots ? kMostDots : std::max(kFewestAtOnePoint, kMostDots / points);
  for (std::size_t i = 0; i < panels.size(); ++i)
    for (const LrSeries& series : panels[i].windows.series) {
      for (const RatePoint& point : series.points) {
        means.push_back(mean_datum(i, series, point));
        for (const SeedResult* seed : chosen_seeds(point, limit)) seeds.push_back(seed_datum(i, series, point, *seed));
      }
      bars.push_back(window_datum(i, series));
    }
  return {{"means", means}, {"seeds", seeds}, {"windows", bars}};
}

Json heading(const std::string& text, int x) {
  const Json data = {{"values", Json::array({{{"name", text}}})}};
  return text_layer(data, "name", x, {{"value", -9}}, kQuietInk);
}

Json accuracy_plot(std::size_t panel, const LrWindows& windows, const LrWindowFigureText& text, const Parts& parts) {
  Json rate_axis = parts.rate.axis;
  rate_axis["title"] = nullptr;
  rate_axis["labels"] = false;
  const Json x = field("rate", "quantitative", {{"scale", parts.rate.scale}, {"axis", rate_axis}});
  const std::string score = score_axis(text.score);
  const auto y = [&](const char* name) { return percent_axis(name, score); };
  const Json seed_tip = tooltip({{"series", "mixer"},
                                 {"rate_text", "learning rate"},
                                 {"test_text", "test %"},
                                 {"validation_text", "validation %"},
                                 {"seed", "seed"},
                                 {"outcome", "outcome"},
                                 {"run", "run"}});
  const Json mean_tip = tooltip({{"series", "mixer"}, {"rate_text", "learning rate"}, {"summary", "test %"}});
  const Json color = parts.series.color;
  // Many bands over each other hide the lines.
  const double band_opacity = windows.series.size() <= 4 ? 0.16 : 0.07;

  Json layers = Json::array();
  layers.push_back({{"data", dataset("means")},
                    {"transform", only_panel(panel)},
                    {"mark", {{"type", "area"}, {"opacity", band_opacity}}},
                    {"encoding", {{"x", x}, {"y", y("min")}, {"y2", {{"field", "max"}}}, {"color", color}}}});
  add_level(layers, windows.rule.threshold, fmt::format("{:.0f} %", percent(windows.rule.threshold)), {5, 3},
            parts.margin);
  if (text.chance) add_level(layers, *text.chance, "chance", {1, 3}, parts.margin);
  if (!text.marks.empty()) layers.push_back(vertical_rules(text.marks, x, kQuietInk));
  layers.push_back({{"data", dataset("seeds")},
                    {"transform", only_panel(panel, "datum.outcome === 'done'")},
                    {"mark", {{"type", "circle"}, {"size", 22}, {"opacity", 0.4}}},
                    {"encoding", {{"x", x}, {"y", y("test")}, {"color", color}, {"tooltip", seed_tip}}}});
  layers.push_back({{"data", dataset("means")},
                    {"transform", only_panel(panel)},
                    {"mark", {{"type", "line"}, {"strokeWidth", 2}}},
                    {"encoding", {{"x", x}, {"y", y("mean")}, {"color", color}}}});
  layers.push_back(
      {{"data", dataset("means")},
       {"transform", only_panel(panel)},
       {"mark", {{"type", "point"}, {"filled", true}, {"opacity", 1}, {"size", 55}}},
       {"encoding",
        {{"x", x}, {"y", y("mean")}, {"color", color}, {"shape", parts.series.shape}, {"tooltip", mean_tip}}}});
  layers.push_back({{"data", dataset("seeds")},
                    {"transform", only_panel(panel, "datum.outcome !== 'done'")},
                    {"mark", {{"type", "text"}, {"text", "×"}, {"fontSize", 14}, {"color", kInk}}},
                    {"encoding", {{"x", x}, {"y", y("test")}, {"tooltip", seed_tip}}}});
  return {{"width", parts.size.width}, {"height", parts.size.height}, {"layer", layers}};
}

// Each rate of the grid as a dot, trainable ones large and coloured, those of the window joined.
Json window_plot(std::size_t panel, const LrWindows& windows, const Parts& parts) {
  const auto x = [&](const char* name) {
    return field(name, "quantitative", {{"scale", parts.rate.scale}, {"axis", parts.rate.axis}});
  };
  const Json axis = {{"title", nullptr}, {"ticks", false}, {"domain", false}, {"labelPadding", 8}};
  const Json y = field("series", "nominal", {{"scale", {{"domain", parts.labels}}}, {"axis", axis}});
  const Json tip = tooltip({{"series", "mixer"}, {"range", "window"}});
  const Json color = parts.series.color;

  Json layers = Json::array();
  layers.push_back(
      {{"data", dataset("windows")},
       {"transform", only_panel(panel, "isValid(datum.lo)")},
       {"mark", {{"type", "rule"}, {"strokeWidth", 5}}},
       {"encoding", {{"x", x("lo")}, {"x2", {{"field", "hi"}}}, {"y", y}, {"color", color}, {"tooltip", tip}}}});
  layers.push_back({{"data", dataset("means")},
                    {"transform", only_panel(panel, "!datum.trainable")},
                    {"mark", {{"type", "circle"}, {"size", 14}, {"opacity", 1}, {"color", "#B5B5B5"}}},
                    {"encoding", {{"x", x("rate")}, {"y", y}, {"tooltip", tip}}}});
  layers.push_back({{"data", dataset("means")},
                    {"transform", only_panel(panel, "datum.trainable")},
                    {"mark", {{"type", "circle"}, {"size", 70}, {"opacity", 1}}},
                    {"encoding", {{"x", x("rate")}, {"y", y}, {"color", color}, {"tooltip", tip}}}});
  Json widths = text_layer(dataset("windows"), "width", parts.margin, y, kInk);
  widths["transform"] = only_panel(panel);
  layers.push_back(widths);
  const std::string share = windows.rule.share == 0.5 ? "half" : fmt::format("{:.0f} %", percent(windows.rule.share));
  const std::string rule = fmt::format("{} of the seeds at {:.0f} % or more", share, percent(windows.rule.threshold));
  layers.push_back(heading(parts.size.columns == 1 ? "Window: " + rule + " on validation" : "Window", 0));
  layers.push_back(heading("decades", parts.margin));
  return {{"width", parts.size.width}, {"height", {{"step", 18}}}, {"layer", layers}};
}

Counts counts_of(const std::vector<LrPanel>& panels) {
  Counts counts;
  for (const LrPanel& panel : panels) {
    counts.runs += panel.windows.runs;
    counts.left_out += panel.windows.left_out;
    for (const LrSeries& series : panel.windows.series)
      for (const RatePoint& point : series.points) {
        const std::size_t seeds = point.seeds.size();
        counts.least_seeds = counts.most_seeds == 0 ? seeds : std::min(counts.least_seeds, seeds);
        counts.most_seeds = std::max(counts.most_seeds, seeds);
        for (const SeedResult& seed : point.seeds) counts.ended_badly |= seed.outcome != "done";
      }
  }
  return counts;
}

std::vector<std::string> subtitle(const std::vector<LrPanel>& panels, const LrWindowFigureText& text) {
  const Counts counts = counts_of(panels);
  std::string key;
  const auto add = [&key](const char* part) { key += key.empty() ? part : fmt::format("; {}", part); };
  if (counts.most_seeds > 1) add("line: mean; band: min to max");
  if (counts.ended_badly) add("×: diverged or failed");
  if (!text.marks.empty()) add("dashed: a coarser grid");
  return {text.setup, counts_text(counts, "per rate", text.scale), key};
}

}  // namespace

bool draws_every_seed(const std::vector<LrPanel>& panels) {
  std::size_t points = 0;
  return seeds_in(panels, points) <= kMostDots;
}

Json lr_window_figure(const LrWindows& windows, const LrWindowFigureText& text) {
  return lr_window_figure(std::vector<LrPanel>{{"", windows}}, text);
}

Json lr_window_figure(const std::vector<LrPanel>& panels, const LrWindowFigureText& text) {
  std::set<std::string, LabelOrder> labels;
  std::vector<double> rates = text.marks;
  for (const LrPanel& panel : panels)
    for (const LrSeries& series : panel.windows.series) {
      labels.insert(series.label);
      for (const RatePoint& point : series.points) rates.push_back(point.rate);
    }
  if (labels.empty()) return empty_figure(text.title, subtitle(panels, text), "no runs yet");
  Parts parts;
  parts.labels.assign(labels.begin(), labels.end());
  parts.rate = log_axis(rates, "Learning rate");
  parts.series = series_encoding(parts.labels);
  parts.size = panel_size(panels.size());
  parts.margin = parts.size.width + 5;

  Json figure = figure_head(text.title, subtitle(panels, text), panels.size());
  figure["datasets"] = datasets(panels);
  std::vector<Json> plots;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < panels.size(); ++i) {
    plots.push_back(
        {{"vconcat", {accuracy_plot(i, panels[i].windows, text, parts), window_plot(i, panels[i].windows, parts)}},
         {"spacing", 10}});
    names.push_back(panels[i].name);
  }
  add_panels(figure, std::move(plots), names);
  return figure;
}

}  // namespace mneme::report
