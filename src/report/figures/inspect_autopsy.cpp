#include <fmt/format.h>

#include <algorithm>

#include "report/figures/figure_style.h"
#include "report/figures/inspections.h"
#include "report/figures/spec.h"

namespace mneme::report {
namespace {

// Groups with a colour of their own: the first to leave their bands. All others are grey.
constexpr std::size_t kMostNamed = 5;
constexpr std::size_t kMostDepartures = 40;

std::string quantity_text(std::string name) {
  if (name == "update_ratio") return "|dw| / |w|";
  std::replace(name.begin(), name.end(), '_', ' ');
  return name;
}

// Without the prefix that nearly every group has.
std::string short_name(const std::string& group) {
  constexpr std::string_view kStack = "backbone.";
  return group.starts_with(kStack) ? group.substr(kStack.size()) : group;
}

std::vector<std::string> first_groups(const Json& departures) {
  std::vector<std::string> names;
  for (const Json& one : departures) {
    const std::string group = short_name(one.at("group"));
    if (!group.empty() && names.size() < kMostNamed && std::find(names.begin(), names.end(), group) == names.end())
      names.push_back(group);
  }
  return names;
}

// A panel of the figure, and its points: a logarithmic axis has no place for zero and less, JSON none for what is not
// finite.
struct TracePanel {
  std::string name;
  Json points = Json::array();
  std::vector<double> values;

  void add(const Json& steps, const Json& numbers, const std::string& line, const std::string& series) {
    for (std::size_t i = 0; i < steps.size(); ++i) {
      if (!numbers.at(i).is_number() || numbers[i].get<double>() <= 0) continue;
      points.push_back({{"step", steps[i]}, {"value", numbers[i]}, {"line", line}});
      if (!series.empty()) points.back()["series"] = series;
      values.push_back(numbers[i]);
    }
  }
};

std::vector<TracePanel> trace_panels(const Json& result, const std::vector<std::string>& named) {
  const Json &steps = result.at("steps"), &model = result.at("model");
  std::vector<TracePanel> panels;
  for (const char* quantity : {"gradient_norm", "update_ratio"}) {
    TracePanel panel{quantity_text(quantity) + " by group", Json::array(), {}};
    for (const Json& group : result.at("groups")) {
      const std::string name = group.at("name"), shown = short_name(name);
      const bool own = std::find(named.begin(), named.end(), shown) != named.end();
      panel.add(steps, group.at(quantity), name, own ? shown : "");
    }
    panels.push_back(std::move(panel));
  }
  for (const auto& [title, quantities] :
       {std::pair{"the model", std::vector{"loss", "largest_logit"}},
        std::pair{"factor of a state in a step", std::vector{"smallest_decay", "largest_decay"}}}) {
    TracePanel panel{title, Json::array(), {}};
    for (const char* quantity : quantities)
      panel.add(steps, model.at(quantity), quantity_text(quantity), quantity_text(quantity));
    panels.push_back(std::move(panel));
  }
  std::erase_if(panels, [](const TracePanel& panel) { return panel.values.empty(); });
  return panels;
}

Json autopsy_figure(const Json& result, const std::string& title, const std::vector<std::string>& lines) {
  const std::vector<std::string> named = first_groups(result.at("departures"));
  const std::vector<TracePanel> panels = trace_panels(result, named);
  if (panels.empty()) return empty_figure(title, lines, "no number was recorded");
  std::vector<std::string> series = named, names;
  for (const char* quantity : {"loss", "largest logit", "smallest decay", "largest decay"})
    if (std::any_of(panels.begin(), panels.end(), [&](const TracePanel& panel) {
          return std::any_of(panel.points.begin(), panel.points.end(),
                             [&](const Json& point) { return point.value("series", "") == quantity; });
        }))
      series.emplace_back(quantity);
  Json color = series_encoding(series).color;
  color["legend"].update({{"columns", 2}, {"labelLimit", 280}});
  const PanelSize size = panel_size(panels.size() == 3 ? 4 : panels.size());
  std::vector<Json> drawn;
  for (const TracePanel& panel : panels) {
    const LogAxis log = log_axis(panel.values, "");
    const Json x = field(
        "step", "quantitative",
        {{"scale", {{"domain", {result["steps"].front(), result["steps"].back()}}, {"nice", false}, {"zero", false}}},
         {"axis", {{"title", "Step"}, {"format", ",d"}, {"tickCount", 5}, {"tickMinStep", 1}}}});
    const Json y = field("value", "quantitative", {{"scale", log.scale}, {"axis", log.axis}});
    const Json tip = tooltip({{"line", "of"}, {"step", "step"}, {"value", "value"}});
    Json layers = Json::array();
    if (!result["departures"].empty())
      layers.push_back(vertical_rules({result["departures"][0].at("step").get<double>()}, x, kQuietInk));
    layers.push_back({{"transform", only("!datum.series")},
                      {"mark", {{"type", "line"}, {"color", "#BBBBBB"}, {"strokeWidth", 0.8}}},
                      {"encoding", {{"x", x}, {"y", y}, {"detail", field("line", "nominal")}, {"tooltip", tip}}}});
    layers.push_back({{"transform", only("datum.series")},
                      {"mark", {{"type", "line"}, {"strokeWidth", 2}, {"point", {{"size", 14}}}}},
                      {"encoding", {{"x", x}, {"y", y}, {"color", color}, {"tooltip", tip}}}});
    drawn.push_back(
        {{"width", size.width}, {"height", size.height}, {"data", {{"values", panel.points}}}, {"layer", layers}});
    names.push_back(panel.name);
  }
  Json figure = figure_head(title, lines, 2);
  add_panels(figure, drawn, names);
  if (drawn.size() > 1) figure["columns"] = 2;
  return figure;
}

}  // namespace

ReportSection render_autopsy(const Json& result, const InspectedRun& run) {
  ReportSection section;
  section.findings.push_back(result.at("sentence"));
  const Json& departures = result.at("departures");
  section.figures.push_back(
      {"autopsy",
       autopsy_figure(result, fmt::format("The last {} steps", result.at("steps").size()),
                      {run.label, departures.empty() ? "nothing left its band"
                                                     : "dashed: the step at which the first left its band"}),
       fmt::format("Grey: groups of parameters that are not among the first {} to leave their bands. What is zero, "
                   "below or not finite is left out.",
                   kMostNamed)});
  Table table{.columns = {{"step", Align::right}, {"group"}, {"what"}, {"value", Align::right}, {"its band"}},
              .rows = {}};
  for (const Json& one : departures) {
    if (table.rows.size() == kMostDepartures) break;
    const std::string group = one.at("group");
    const auto number = [](const Json& value) {
      return value.is_number() ? fmt::format("{:.3g}", value.get<double>()) : std::string("not finite");
    };
    table.rows.push_back({one.at("step").dump(), group.empty() ? "the model" : group, quantity_text(one.at("quantity")),
                          number(one.at("value")),
                          fmt::format("{} to {}", number(one.at("low")), number(one.at("high")))});
  }
  section.tables.push_back({"What left its band", table,
                            "A band is reckoned from the older half of the steps (docs/run-directory.md).", false,
                            "autopsy"});
  return section;
}

}  // namespace mneme::report
