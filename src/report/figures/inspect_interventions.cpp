#include <fmt/format.h>

#include <algorithm>

#include "report/figures/figure_style.h"
#include "report/figures/inspections.h"
#include "report/figures/spec.h"

namespace mneme::report {
namespace {

// The kinds of positions, in the order of a sequence; a kind that no cell has is left out.
constexpr const char* kKinds[] = {"key", "value", "query", "other pairs", "filler"};

std::string site_name(const Json& cell) {
  return fmt::format("layer {}, {}", cell.at("layer").get<std::int64_t>(), cell.at("place").get<std::string>());
}

// Each once, in the order of the cells: that of the forward pass, then the states.
std::vector<std::string> sites_of(const Json& cells) {
  std::vector<std::string> sites;
  for (const Json& cell : cells)
    if (const std::string site = site_name(cell); std::find(sites.begin(), sites.end(), site) == sites.end())
      sites.push_back(site);
  return sites;
}

std::vector<std::string> kinds_of(const Json& cells) {
  std::vector<std::string> kinds;
  for (const char* kind : kKinds)
    if (std::any_of(cells.begin(), cells.end(), [&](const Json& cell) { return cell.at("kind") == kind; }))
      kinds.emplace_back(kind);
  return kinds;
}

std::string share_text(double share) {
  const std::string text = fmt::format("{:.2f}", share);
  return text == "-0.00" ? "0.00" : text;
}

// With its standard error where that is large: one example with a small denominator can make a mean.
std::string label_text(double mean, double error) {
  constexpr double kLarge = 0.05;
  return error < kLarge ? share_text(mean) : fmt::format("{} ±{:.2f}", share_text(mean), error);
}

Json heat_map(const Json& corruption, const std::string& title, const std::vector<std::string>& lines) {
  const Json& cells = corruption.at("cells");
  if (cells.empty()) return empty_figure(title, lines, "replacing the token changes no answer: nothing to attribute");
  Json data = Json::array();
  for (const Json& cell : cells) {
    const double mean = cell.at("mean");
    data.push_back({{"site", site_name(cell)},
                    {"kind", cell.at("kind")},
                    {"mean", mean},
                    {"text", share_text(mean)},
                    {"label", label_text(mean, cell["error"])},
                    {"error", share_text(cell.at("error"))},
                    {"count", cell.at("count")}});
  }
  const Json x = field("kind", "nominal",
                       {{"scale", {{"domain", kinds_of(cells)}, {"padding", 0.04}}},
                        {"axis",
                         {{"title", "Patched at"},
                          {"orient", "top"},
                          {"labelAngle", 0},
                          {"ticks", false},
                          {"domain", false},
                          {"labelFontSize", 11}}}});
  const Json y = field("site", "nominal",
                       {{"scale", {{"domain", sites_of(cells)}, {"padding", 0.06}}},
                        {"axis", {{"title", nullptr}, {"ticks", false}, {"domain", false}, {"labelLimit", 320}}}});
  // Shares below 0 (a patch that makes it worse) and above 1 are shown at the ends of the scale, their number as it is.
  const Json color =
      field("mean", "quantitative",
            {{"scale", {{"domain", {-1, 0, 1}}, {"range", {"#D55E00", "#F4F4F4", "#0072B2"}}, {"clamp", true}}},
             {"legend", nullptr}});
  const Json ink = {{"condition", {{"test", "abs(datum.mean) > 0.6"}, {"value", "white"}}}, {"value", kInk}};
  Json figure = figure_head(title, lines);
  figure.update(
      {{"data", {{"values", data}}},
       {"width", {{"step", 66}}},
       {"height", {{"step", 22}}},
       {"layer",
        Json::array({{{"mark", {{"type", "rect"}, {"cornerRadius", 2}}},
                      {"encoding",
                       {{"x", x},
                        {"y", y},
                        {"color", color},
                        {"tooltip", tooltip({{"site", "site"},
                                             {"kind", "patched at"},
                                             {"text", "attribution"},
                                             {"error", "standard error"},
                                             {"count", "examples"}})}}}},
                     {{"mark", {{"type", "text"}, {"fontSize", 10}}},
                      {"encoding", {{"x", x}, {"y", y}, {"text", field("label", "nominal")}, {"color", ink}}}}})}});
  return figure;
}

Table attribution_table(const Json& corruptions) {
  Table table{.columns = {{"replaced"},
                          {"site"},
                          {"patched at"},
                          {"attribution", Align::right},
                          {"standard error", Align::right},
                          {"examples", Align::right}},
              .rows = {}};
  for (const Json& corruption : corruptions)
    for (const Json& cell : corruption.at("cells"))
      table.rows.push_back({corruption.at("token"), site_name(cell), cell.at("kind"),
                            fmt::format("{:.4f}", cell.at("mean").get<double>()),
                            fmt::format("{:.4f}", cell.at("error").get<double>()), cell.at("count").dump()});
  return table;
}

}  // namespace

ReportSection render_interventions(const Json& result, const InspectedRun& run) {
  ReportSection section;
  for (const Json& sentence : result.at("verdict").at("sentences")) section.findings.push_back(sentence);
  for (const Json& corruption : result.at("corruptions")) {
    const std::string token = corruption.at("token");
    const std::string kept = fmt::format(
        "{} of {} examples, whose answer loses more than {:.2g}; its mean probability is {:.3f}, with another {} "
        "{:.3f}",
        corruption.at("kept").get<std::int64_t>(), corruption.at("examples").get<std::int64_t>(),
        result.at("least_effect").get<double>(), corruption.at("p_clean").get<double>(), token,
        corruption.at("p_corrupt").get<double>());
    section.figures.push_back(
        {"interventions-" + token,
         heat_map(corruption, fmt::format("Which site carries the {}", token), {run.label, kept}),
         fmt::format("The {} of the queried pair is replaced by another; then one site gets back what it had with the "
                     "right one, at one kind of position. 1: the answer is back, 0: nothing changes. What leaves a "
                     "block is what the next one reads. States are put in place after the key, after the value and "
                     "before the query.",
                     token)});
  }
  section.tables.push_back({"Attributions", attribution_table(result["corruptions"]),
                            fmt::format("(p patched - p corrupted) / (p clean - p corrupted), mean over examples. A "
                                        "site carries the key from {:.2g} on.",
                                        result.at("carries").get<double>()),
                            true, "interventions"});
  return section;
}

}  // namespace mneme::report
