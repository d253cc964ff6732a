#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "report/figures/figure_style.h"
#include "report/figures/inspections.h"
#include "report/figures/spec.h"

namespace mneme::report {
namespace {

constexpr const char* kToken = "one token";
constexpr const char* kSequence = "whole sequence";
constexpr const char* kRoot = "exp(±2πi/n)";

std::string panel_name(const Json& mixer) {
  return fmt::format("layer {}: {}", mixer.at("layer").get<std::int64_t>(), mixer.at("mixer").get<std::string>());
}

Json datasets(const Json& mixers) {
  Json points = Json::array(), circle = Json::array();
  const auto add = [&](std::size_t panel, const Json& value, const char* series) {
    if (value.at(0).is_number() && value.at(1).is_number())
      points.push_back({{"panel", panel}, {"re", value[0]}, {"im", value[1]}, {"series", series}});
  };
  for (std::size_t p = 0; p < mixers.size(); ++p) {
    for (const Json& value : mixers[p].at("eigenvalues")) add(p, value, kToken);
    for (const Json& value : mixers[p].at("product")) add(p, value, kSequence);
    if (!mixers[p].contains("counting")) continue;
    const Json root = mixers[p]["counting"].at("root");
    for (const double sign : {1.0, -1.0}) add(p, {root.at(0), sign * root.at(1).get<double>()}, kRoot);
  }
  constexpr int kCorners = 120;
  for (int i = 0; i <= kCorners; ++i) {
    const double angle = 2 * std::numbers::pi * i / kCorners;
    circle.push_back({{"order", i}, {"re", std::cos(angle)}, {"im", std::sin(angle)}});
  }
  return {{"points", points}, {"circle", circle}};
}

// Largest distance from zero, of either part.
double reach_of(const Json& points) {
  double reach = 1.1;
  for (const Json& point : points)
    reach = std::max({reach, 1.05 * std::abs(point["re"].get<double>()), 1.05 * std::abs(point["im"].get<double>())});
  return reach;
}

bool all_real(const Json& points) {
  return std::all_of(points.begin(), points.end(),
                     [](const Json& point) { return std::abs(point["im"].get<double>()) < 1e-9; });
}

Json real_axis(double reach) {
  return field("re", "quantitative",
               {{"scale", {{"domain", {-reach, reach}}, {"nice", false}}},
                {"axis", {{"title", "real part"}, {"tickCount", 5}, {"labelFlush", false}}}});
}

Json tip() { return tooltip({{"series", "of"}, {"re", "real"}, {"im", "imaginary"}}); }

// The complex plane with its unit circle.
Json plane(std::size_t panel, double reach, const std::vector<std::string>& series) {
  const SeriesEncoding encoding = series_encoding(series);
  const Json x = real_axis(reach);
  Json y = x;
  y["field"] = "im";
  y["axis"]["title"] = "imaginary part";
  const Json unit = {{"data", dataset("circle")},
                     {"mark", {{"type", "line"}, {"color", kQuietInk}, {"strokeWidth", 1}}},
                     {"encoding", {{"x", x}, {"y", y}, {"order", field("order", "quantitative")}}}};
  const auto dots = [&](const std::string& condition, const Json& mark) -> Json {
    return {
        {"data", dataset("points")},
        {"transform", only_panel(panel, condition)},
        {"mark", mark},
        {"encoding", {{"x", x}, {"y", y}, {"color", encoding.color}, {"shape", encoding.shape}, {"tooltip", tip()}}}};
  };
  // The root is drawn last and larger: poles may lie on it.
  const std::string is_root = fmt::format("datum.series == '{}'", kRoot);
  Json layers = Json::array(
      {unit, dots("!(" + is_root + ")", {{"type", "point"}, {"filled", true}, {"opacity", 0.5}, {"size", 20}})});
  if (std::find(series.begin(), series.end(), kRoot) != series.end())
    layers.push_back(dots(is_root, {{"type", "point"}, {"filled", false}, {"opacity", 1}, {"size", 110}}));
  return {{"width", 220}, {"height", 220}, {"layer", layers}};
}

// Eigenvalues that are all real, a line of ticks for one token and one for the sequence: on the plane they would hide
// each other.
Json real_line(std::size_t panel, double reach, const std::vector<std::string>& series) {
  Json color = series_encoding(series).color;
  color["legend"] = nullptr;
  const Json y =
      field("series", "nominal", {{"scale", {{"domain", series}}}, {"axis", {{"title", nullptr}, {"grid", false}}}});
  const Json ticks = {{"data", dataset("points")},
                      {"transform", only_panel(panel)},
                      {"mark", {{"type", "tick"}, {"opacity", 0.35}, {"thickness", 1.2}, {"size", 26}}},
                      {"encoding", {{"x", real_axis(reach)}, {"y", y}, {"color", color}, {"tooltip", tip()}}}};
  return {{"width", 250},
          {"height", 80},
          {"layer", Json::array({vertical_rules({-1, 0, 1}, real_axis(reach), kQuietInk), ticks})}};
}

Json spectra_figure(const Json& mixers, const std::vector<std::string>& lines) {
  const Json data = datasets(mixers);
  const Json& points = data["points"];
  const double reach = reach_of(points);
  std::vector<std::string> series{kToken, kSequence};
  if (std::any_of(points.begin(), points.end(), [](const Json& point) { return point["series"] == kRoot; }))
    series.emplace_back(kRoot);
  const auto panel = all_real(points) ? real_line : plane;
  std::vector<Json> panels;
  std::vector<std::string> names;
  for (std::size_t p = 0; p < mixers.size(); ++p) {
    panels.push_back(panel(p, reach, series));
    names.push_back(panel_name(mixers[p]));
  }
  Json figure = figure_head("Eigenvalues of the transitions", lines, mixers.size() == 1 ? 1 : 2);
  figure["datasets"] = data;
  add_panels(figure, panels, names);
  if (panels.size() > 1) figure["columns"] = 2;
  return figure;
}

std::string tokens_text(const Json& half_life) {
  return half_life.is_number() ? fmt::format("{:.3g}", half_life.get<double>()) : "does not decay";
}

std::string finding(const Json& mixer) {
  const Json& half = mixer.at("half_life");
  std::string text = fmt::format(
      "{}: {:.0f} % of the eigenvalues are below zero, {:.0f} % complex, {:.0f} % of size 1 (largest {:.4g}); "
      "half-life "
      "over the sequence: median {} tokens, longest {}",
      panel_name(mixer), 100 * mixer.at("below_zero").get<double>(), 100 * mixer.at("complex").get<double>(),
      100 * mixer.at("lasting").get<double>(), mixer.at("largest").get<double>(), tokens_text(half.at("median")),
      tokens_text(half.at("longest")));
  if (mixer.contains("counting")) {
    const Json& counting = mixer["counting"];
    text += fmt::format("; the eigenvalue nearest to exp(2πi/{}) is {:.3g} away", counting.at("n").get<int>(),
                        counting.at("distance").get<double>());
  }
  return text;
}

}  // namespace

ReportSection render_spectra(const Json& result, const InspectedRun& run) {
  ReportSection section;
  const Json& mixers = result.at("mixers");
  Table table{.columns = {{"layer", Align::right},
                          {"mixer"},
                          {"block", Align::right},
                          {"lanes", Align::right},
                          {"below zero", Align::right},
                          {"complex", Align::right},
                          {"of size 1", Align::right},
                          {"largest", Align::right},
                          {"half-life, 10 %", Align::right},
                          {"median", Align::right},
                          {"90 %", Align::right},
                          {"longest", Align::right}},
              .rows = {}};
  const auto percent = [](const Json& share) { return fmt::format("{:.1f} %", 100 * share.get<double>()); };
  for (const Json& mixer : mixers) {
    section.findings.push_back(finding(mixer));
    const Json& half = mixer.at("half_life");
    table.rows.push_back({mixer.at("layer").dump(), mixer.at("mixer"), mixer.at("size").dump(),
                          mixer.at("lanes").dump(), percent(mixer.at("below_zero")), percent(mixer.at("complex")),
                          percent(mixer.at("lasting")), fmt::format("{:.6g}", mixer.at("largest").get<double>()),
                          tokens_text(half.at("short")), tokens_text(half.at("median")), tokens_text(half.at("long")),
                          tokens_text(half.at("longest"))});
  }
  for (const Json& one : result.at("left_out"))
    section.findings.push_back(fmt::format("{} ({}): {}", one.at("module").get<std::string>(),
                                           one.at("mixer").get<std::string>(), one.at("why").get<std::string>()));
  const std::string tokens = mixers.front().at("tokens").dump();
  section.figures.push_back(
      {"spectra", spectra_figure(mixers, {run.label, "example 0 of the test split, " + tokens + " tokens"}),
       "Of the derivative of the state after a token by the state before it, and of the product of all tokens. The "
       "circle has radius 1; where all are real, there is a line of ticks for each."});
  section.tables.push_back({"Transitions", table,
                            "A block is a set of state elements that act on each other; lanes counts the blocks. "
                            "Half-lives in tokens, from |lambda|^(1/T) of the product over T tokens.",
                            false, "spectra"});
  return section;
}

}  // namespace mneme::report
