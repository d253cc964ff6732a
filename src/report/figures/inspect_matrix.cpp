#include <fmt/format.h>

#include <algorithm>

#include "report/figures/figure_style.h"
#include "report/figures/inspections.h"
#include "report/figures/spec.h"

namespace mneme::report {
namespace {

constexpr std::size_t kMostPanels = 6;
constexpr int kPanelSide = 230;

// One head of one mixer.
struct Panel {
  std::string name;
  const Json* rows;
};

std::string panel_name(const Json& mixer, std::size_t head, std::size_t heads) {
  std::string name = fmt::format("layer {}", mixer.at("layer").get<std::int64_t>());
  if (heads > 1) name += fmt::format(", head {}", head);
  if (mixer.at("convolved").get<bool>()) name += ", with convolution";
  if (!mixer.at("linear").get<bool>()) name += ", |dy/dx|";
  return name;
}

std::vector<Panel> panels_of(const Json& result) {
  std::vector<Panel> panels;
  for (const Json& mixer : result.at("mixers"))
    for (std::size_t h = 0; h < mixer.at("heads").size(); ++h)
      panels.push_back({panel_name(mixer, h, mixer["heads"].size()), &mixer["heads"][h]});
  return panels;
}

Json entries_of(const std::vector<Panel>& panels, std::int64_t block) {
  Json entries = Json::array();
  for (std::size_t p = 0; p < panels.size(); ++p)
    for (std::size_t t = 0; t < panels[p].rows->size(); ++t)
      for (std::size_t s = 0; s < (*panels[p].rows)[t].size(); ++s) {
        const Json& size = (*panels[p].rows)[t][s];
        if (size.get<double>() == 0) continue;
        const auto from = static_cast<std::int64_t>(s) * block, row = static_cast<std::int64_t>(t) * block;
        entries.push_back(
            {{"panel", p}, {"s", from}, {"s2", from + block}, {"t", row}, {"t2", row + block}, {"size", size}});
      }
  return entries;
}

Json strip_of(const Json& result) {
  Json strip = Json::array();
  for (std::size_t t = 0; t < result.at("roles").size(); ++t)
    strip.push_back({{"at", t},
                     {"to", t + 1},
                     {"role", result["roles"][t]},
                     {"token", t < result.at("tokens").size() ? result["tokens"][t] : Json("")}});
  return strip;
}

// Roles that occur, in a fixed order with a fixed colour. One legend for all strips: they share the channel `fill`,
// and the matrices, each with a scale of its own, have `color`.
Json role_fill(const Json& strip) {
  const std::vector<std::pair<const char*, const char*>> known{
      {"key", "#0072B2"},  {"value", "#E69F00"},  {"query", "#D55E00"},  {"answer", "#D55E00"},
      {"data", "#009E73"}, {"marker", "#CC79A7"}, {"filler", "#DDDDDD"}, {"padding", "#F4F4F4"}};
  Json domain = Json::array(), range = Json::array();
  for (const auto& [role, colour] : known) {
    const bool occurs =
        std::any_of(strip.begin(), strip.end(), [&role = role](const Json& one) { return one["role"] == role; });
    if (!occurs) continue;
    domain.push_back(role);
    range.push_back(colour);
  }
  return field("role", "nominal",
               {{"scale", {{"domain", domain}, {"range", range}}}, {"legend", {{"title", nullptr}, {"columns", 8}}}});
}

Json matrices_figure(const Json& result, const std::string& title, const std::vector<std::string>& lines) {
  std::vector<Panel> panels = panels_of(result);
  if (panels.size() > kMostPanels) panels.resize(kMostPanels);
  const double length = result.at("length"), margin = length / 24;
  const Json strip = strip_of(result), domain = {-margin, length};
  const auto axis = [&](const char* name, const char* title_of, bool reversed) {
    return field(name, "quantitative",
                 {{"scale", {{"domain", domain}, {"nice", false}, {"reverse", reversed}}},
                  {"axis", {{"title", title_of}, {"grid", false}, {"tickCount", 6}, {"tickMinStep", 1}}}});
  };
  const Json x = axis("s", "from token s", false), y = axis("t", "to token t", true);
  const Json roles = role_fill(strip);
  std::vector<Json> drawn;
  std::vector<std::string> names;
  for (std::size_t p = 0; p < panels.size(); ++p) {
    const Json cells = {
        {"data", dataset("entries")},
        {"transform", only_panel(p)},
        {"mark", {{"type", "rect"}}},
        {"encoding",
         {{"x", x},
          {"x2", {{"field", "s2"}}},
          {"y", y},
          {"y2", {{"field", "t2"}}},
          {"color", field("size", "quantitative",
                          {{"scale", {{"type", "sqrt"}, {"range", {"#EEF4FA", "#08306B"}}}}, {"legend", nullptr}})},
          {"tooltip", tooltip({{"t", "to"}, {"s", "from"}, {"size", "|M|"}})}}}};
    const auto side = [&](bool above) -> Json {
      Json along = above ? x : y;
      along["field"] = "at";
      const Json across = {{"datum", -margin}}, end = {{"datum", -margin / 4}};
      Json encoding = {{above ? "x" : "y", along},
                       {above ? "x2" : "y2", {{"field", "to"}}},
                       {above ? "y" : "x", across},
                       {above ? "y2" : "x2", end},
                       {"fill", roles},
                       {"tooltip", tooltip({{"at", "position"}, {"token", "token"}, {"role", "role"}})}};
      return {{"data", dataset("strip")}, {"mark", {{"type", "rect"}}}, {"encoding", encoding}};
    };
    drawn.push_back(
        {{"width", kPanelSide}, {"height", kPanelSide}, {"layer", Json::array({cells, side(true), side(false)})}});
    names.push_back(panels[p].name);
  }
  Json figure = figure_head(title, lines, 2);
  figure["datasets"] = {{"entries", entries_of(panels, result.at("block"))}, {"strip", strip}};
  add_panels(figure, drawn, names);
  if (drawn.size() > 1) figure.update({{"columns", 2}, {"resolve", {{"scale", {{"color", "independent"}}}}}});
  return figure;
}

}  // namespace

ReportSection render_matrix(const Json& result, const InspectedRun& run) {
  ReportSection section;
  if (result.at("worst_error").is_number())
    section.findings.push_back(
        fmt::format("M v equals what the mixers computed, to {:.1e} of its largest value, in {} rows of {} examples",
                    result["worst_error"].get<double>(), result.at("checked_rows").get<std::int64_t>(),
                    result.at("examples").get<std::int64_t>()));
  Table table{.columns = {{"layer", Align::right},
                          {"module"},
                          {"heads", Align::right},
                          {"entries are"},
                          {"largest error of M v", Align::right},
                          {"below zero", Align::right}},
              .rows = {}};
  for (const Json& mixer : result.at("mixers")) {
    const bool linear = mixer.at("linear"), convolved = mixer.at("convolved");
    if (!linear)
      section.findings.push_back(fmt::format("{}: no input enters linearly, so entries are |dy(t) / dx(s)|",
                                             mixer.at("module").get<std::string>()));
    const Json negative = mixer.value("negative", Json());
    table.rows.push_back({mixer.at("layer").dump(), mixer.at("module"), std::to_string(mixer.at("heads").size()),
                          !linear     ? "|dy(t) / dx(s)|"
                          : convolved ? "M with the short convolution"
                                      : "M",
                          mixer.at("error").is_number() ? fmt::format("{:.1e}", mixer["error"].get<double>()) : "-",
                          negative.is_number() ? fmt::format("{:.1f} %", 100 * negative.get<double>()) : "-"});
  }
  const std::size_t panels = panels_of(result).size();
  std::vector<std::string> lines{run.label, "example 0 of the test split; |M|, mean over the channels of a head"};
  if (panels > kMostPanels) lines.push_back(fmt::format("the first {} of {} heads", kMostPanels, panels));
  section.figures.push_back({"matrix", matrices_figure(result, "Mixing matrices", lines),
                             "Row t shows how much of each token s is in what the mixer gives at t. The strips show "
                             "what a token is for. Colours follow the square root, each panel from its own maximum."});
  section.tables.push_back({"Mixing matrices", table,
                            "Below zero: the share of |M| that is negative, of means over the channels of a head.",
                            false, "matrix"});
  return section;
}

}  // namespace mneme::report
