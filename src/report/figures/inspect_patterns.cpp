#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "report/figures/figure_style.h"
#include "report/figures/inspections.h"
#include "report/figures/spec.h"

namespace mneme::report {
namespace {

// From here on a head follows a pattern.
constexpr double kFollows = 0.5;

struct PatternText {
  const char* name;
  const char* label;   // of columns and series
  const char* phrase;  // "looks at ..."
};
constexpr PatternText kTexts[] = {
    {"previous", "previous token", "the previous token"},
    {"previous_at_values", "previous token, at values", "the key before it, at values"},
    {"same", "same token", "the token itself"},
    {"induction", "after its last occurrence", "the token after the last occurrence of its own"},
    {"value", "queried value", "the value that is queried"},
    {"key", "queried key", "the key that is queried"},
};

std::string head_name(const Json& row, bool several) {
  std::string name = fmt::format("layer {}", row.at("layer").get<std::int64_t>());
  if (several) name += fmt::format(", head {}", row.at("head").get<std::int64_t>());
  if (row.at("convolved").get<bool>()) name += ", with convolution";
  return name;
}

bool has_heads(const Json& rows) {
  return std::any_of(rows.begin(), rows.end(), [](const Json& row) { return row.at("head").get<int>() > 0; });
}

std::string share_text(const Json& share) {
  return share.is_number() ? fmt::format("{:.0f}", 100 * share.get<double>()) : "-";
}

Json table_figure(const Json& rows, const Json& uniform, const std::vector<std::string>& lines) {
  Json cells = Json::array(), heads = Json::array(), columns = Json::array();
  const bool several = has_heads(rows);
  const auto add = [&](const std::string& head, const Json& scores) {
    heads.push_back(head);
    for (const PatternText& text : kTexts) {
      const Json& share = scores.at(text.name);
      if (share.is_number())
        cells.push_back({{"head", head}, {"pattern", text.label}, {"share", share}, {"text", share_text(share)}});
    }
  };
  for (const Json& row : rows) add(head_name(row, several), row.at("scores"));
  add("equal weights on all", uniform);
  for (const PatternText& text : kTexts)
    if (uniform.at(text.name).is_number()) columns.push_back(text.label);
  const Json x = field("pattern", "nominal",
                       {{"scale", {{"domain", columns}, {"padding", 0.06}}},
                        {"axis",
                         {{"title", nullptr},
                          {"orient", "top"},
                          {"labelAngle", -40},
                          {"labelAlign", "left"},
                          {"ticks", false},
                          {"domain", false},
                          {"labelLimit", 320}}}});
  const Json y = field("head", "nominal",
                       {{"scale", {{"domain", heads}, {"padding", 0.08}}},
                        {"axis", {{"title", nullptr}, {"ticks", false}, {"domain", false}, {"labelLimit", 320}}}});
  const Json ink = {{"condition", {{"test", "datum.share > 0.55"}, {"value", "white"}}}, {"value", kInk}};
  Json figure = figure_head("Where mixers look", lines);
  figure.update(
      {{"data", {{"values", cells}}},
       {"width", {{"step", 52}}},
       {"height", {{"step", 26}}},
       {"layer",
        Json::array({{{"mark", {{"type", "rect"}, {"cornerRadius", 2}}},
                      {"encoding",
                       {{"x", x},
                        {"y", y},
                        {"color", field("share", "quantitative",
                                        {{"scale", {{"domain", {0, 1}}, {"range", {"#F4F4F4", "#0072B2"}}}},
                                         {"legend", nullptr}})}}}},
                     {{"mark", {{"type", "text"}, {"fontSize", 12}}},
                      {"encoding", {{"x", x}, {"y", y}, {"text", field("text", "nominal")}, {"color", ink}}}}})}});
  return figure;
}

// Over training: for each layer the head that follows a pattern best.
Json steps_figure(const Json& steps, const std::vector<std::string>& lines) {
  std::map<std::int64_t, std::size_t> panel_of;
  Json points = Json::array();
  for (const Json& step : steps) {
    std::map<std::pair<std::int64_t, std::size_t>, double> best;
    for (const Json& row : step.at("rows"))
      for (std::size_t p = 0; p < std::size(kTexts); ++p)
        if (const Json& share = row.at("scores").at(kTexts[p].name); share.is_number()) {
          double& most = best[{row.at("layer").get<std::int64_t>(), p}];
          most = std::max(most, share.get<double>());
        }
    for (const auto& [place, share] : best) {
      const std::size_t panel = panel_of.try_emplace(place.first, panel_of.size()).first->second;
      points.push_back({{"panel", panel},
                        {"step", step.at("step")},
                        {"series", kTexts[place.second].label},
                        {"share", 100 * share}});
    }
  }
  std::vector<std::string> series, names(panel_of.size());
  for (const PatternText& text : kTexts)
    if (std::any_of(points.begin(), points.end(), [&](const Json& one) { return one["series"] == text.label; }))
      series.emplace_back(text.label);
  const SeriesEncoding encoding = series_encoding(series);
  std::vector<Json> panels(panel_of.size());
  for (const auto& [layer, panel] : panel_of) {
    names[panel] = fmt::format("layer {}", layer);
    const Json common = {
        {"x", field("step", "quantitative",
                    {{"axis", {{"title", "Step"}, {"format", ",d"}, {"tickCount", 5}, {"labelFlush", false}}}})},
        {"y", percent_axis("share", "Share of |M| (%)")},
        {"color", encoding.color}};
    Json with_shape = common;
    with_shape["shape"] = encoding.shape;
    const PanelSize size = panel_size(panel_of.size());
    panels[panel] = {
        {"width", size.width},
        {"height", size.height},
        {"layer", Json::array({{{"data", dataset("points")},
                                {"transform", only_panel(panel)},
                                {"mark", {{"type", "line"}, {"strokeWidth", 2}}},
                                {"encoding", common}},
                               {{"data", dataset("points")},
                                {"transform", only_panel(panel)},
                                {"mark", {{"type", "point"}, {"filled", false}, {"size", 40}, {"opacity", 1}}},
                                {"encoding", with_shape}}})}};
  }
  Json figure = figure_head("Where mixers look, over training", lines, panel_of.size());
  figure["datasets"] = {{"points", points}};
  add_panels(figure, panels, names);
  return figure;
}

std::vector<std::string> findings_of(const Json& rows, const Json& uniform) {
  std::vector<std::string> findings;
  for (const Json& row : rows)
    for (const PatternText& text : kTexts) {
      const Json& share = row.at("scores").at(text.name);
      if (!share.is_number() || share.get<double>() < kFollows || uniform.at(text.name).get<double>() >= kFollows)
        continue;
      findings.push_back(fmt::format("{} looks at {}: {} % of |M| (uniform: {} %)", head_name(row, has_heads(rows)),
                                     text.phrase, share_text(share), share_text(uniform.at(text.name))));
    }
  if (findings.empty())
    findings.push_back(
        "no head puts half of its |M| on the previous token, the same token, the token after its last "
        "occurrence, the queried value or the queried key");
  return findings;
}

}  // namespace

ReportSection render_patterns(const Json& result, const InspectedRun& run) {
  ReportSection section;
  const Json& steps = result.at("steps");
  const Json& rows = steps.back().at("rows");
  const Json& uniform = result.at("uniform");
  section.findings = findings_of(rows, uniform);
  const std::vector<std::string> lines{
      run.label,
      fmt::format("per cent of |M| in a row, mean over the rows of {} examples", result.at("examples").get<int>())};
  section.figures.push_back(
      {"patterns", table_figure(rows, uniform, lines),
       "The share of a row's |M| that is at one place. The last row is what equal weights on all tokens up to here "
       "would give."});
  if (steps.size() > 1)
    section.figures.push_back(
        {"patterns-training",
         steps_figure(steps, {run.label, "the head of each layer that follows it most, with or without convolution"}),
         "Weights saved by train.keep, and the final ones."});
  Table table{
      .columns = {{"step", Align::right}, {"layer", Align::right}, {"head", Align::right}, {"module"}, {"convolution"}},
      .rows = {}};
  for (const PatternText& text : kTexts) table.columns.push_back({text.label, Align::right});
  for (const Json& step : steps)
    for (const Json& row : step.at("rows")) {
      table.rows.push_back({step.at("step").dump(), row.at("layer").dump(), row.at("head").dump(), row.at("module"),
                            row.at("convolved").get<bool>() ? "with" : "without"});
      for (const PatternText& text : kTexts) {
        const Json& share = row.at("scores").at(text.name);
        table.rows.back().push_back(share.is_number() ? fmt::format("{:.4f}", share.get<double>()) : "-");
      }
    }
  section.tables.push_back({"Pattern scores", table, "Shares of |M| of a row, means over rows.", true, "patterns"});
  return section;
}

}  // namespace mneme::report
