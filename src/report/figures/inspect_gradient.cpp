#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/figures/figure_style.h"
#include "report/figures/inspections.h"
#include "report/figures/spec.h"

namespace mneme::report {
namespace {

constexpr const char* kExponential = "exponential";
constexpr const char* kPower = "power law";

struct Fit {
  double exponential(double lag) const { return at_zero * std::pow(factor, lag); }
  double power(double lag) const { return at_one * std::pow(lag, exponent); }
  double factor, at_zero, exponent, at_one;
};

Fit read_fit(const Json& fit) {
  const Json& e = fit.at("exponential");
  const Json& p = fit.at("power");
  return {e.at("factor"), e.at("at_zero"), p.at("exponent"), p.at("at_one")};
}

Json gradient_figure(const Json& result, const std::string& title, const std::vector<std::string>& lines) {
  Json points = Json::array();
  std::vector<double> sizes;
  for (const Json& one : result.at("lags")) {
    // A logarithmic axis has no place for zero, and JSON none for what is not finite.
    if (!one.at("mean").is_number() || !(one["mean"].get<double>() > 0)) continue;
    const double mean = one["mean"];
    points.push_back({{"lag", one["lag"]}, {"mean", mean}, {"count", one["count"]}});
    sizes.push_back(mean);
  }
  if (points.empty()) return empty_figure(title, lines, "every gradient is zero");
  Json curves = Json::array();
  if (!result.at("fit").is_null()) {
    const Fit fit = read_fit(result["fit"]);
    const double least = *std::min_element(sizes.begin(), sizes.end());
    for (const Json& point : points) {
      const auto lag = point["lag"].get<double>();
      if (lag < 1) continue;
      for (const auto& [name, value] :
           {std::pair{kExponential, fit.exponential(lag)}, std::pair{kPower, fit.power(lag)}})
        if (value >= least) curves.push_back({{"lag", lag}, {"mean", value}, {"series", name}});
    }
  }
  const LogAxis log = log_axis(sizes, "Mean |dL(t) / dx(t - lag)|");
  // Lag 0 is next to the axis, not on it.
  const Json x = field("lag", "quantitative",
                       {{"scale", {{"domain", {-1, points.back()["lag"].get<double>() + 1}}, {"nice", false}}},
                        {"axis", {{"title", "Lag (tokens)"}, {"tickMinStep", 1}}}});
  const Json y = field("mean", "quantitative", {{"scale", log.scale}, {"axis", log.axis}});
  const Json color = field("series", "nominal",
                           {{"scale", {{"domain", {kExponential, kPower}}, {"range", {"#D55E00", "#009E73"}}}},
                            {"legend", curves.empty() ? Json() : Json{{"title", nullptr}, {"symbolType", "stroke"}}}});
  Json figure = figure_head(title, lines);
  figure.update(
      {{"width", kFigureWidth},
       {"height", kFigureHeight},
       {"datasets", {{"points", points}, {"curves", curves}}},
       {"layer",
        Json::array(
            {{{"data", dataset("curves")},
              {"mark", {{"type", "line"}, {"strokeWidth", 1.5}, {"strokeDash", {5, 3}}}},
              {"encoding", {{"x", x}, {"y", y}, {"color", color}}}},
             {{"data", dataset("points")},
              {"mark", {{"type", "point"}, {"filled", true}, {"opacity", 1}, {"size", 28}, {"color", "#0072B2"}}},
              {"encoding",
               {{"x", x}, {"y", y}, {"tooltip", tooltip({{"lag", "lag"}, {"mean", "mean"}, {"count", "of"}})}}}}})}});
  return figure;
}

std::string verdict(const Json& fit) {
  if (fit.is_null()) return "too few lags to fit a curve";
  const Json& e = fit.at("exponential");
  const Json& p = fit.at("power");
  const std::string better = fit.at("better");
  const std::string both = fmt::format("exponential: x{:.3g} a token, R² {:.2f}; power law: exponent {:.2f}, R² {:.2f}",
                                       e.at("factor").get<double>(), e.at("r2").get<double>(),
                                       p.at("exponent").get<double>(), p.at("r2").get<double>());
  if (better == "neither") return "neither curve describes the decay; " + both;
  return fmt::format("{} fits better; {}", better == "power" ? "a power law" : "an exponential", both);
}

}  // namespace

ReportSection render_gradient(const Json& result, const InspectedRun& run) {
  const std::string title = "Gradient of a loss by distance";
  ReportSection section;
  section.findings.push_back(verdict(result.at("fit")));
  if (const Json& source = result.at("at_source"); source.is_number() && result.at("elsewhere").is_number()) {
    const double there = source, elsewhere = result["elsewhere"];
    section.findings.push_back(
        fmt::format("at the token that has the answer the gradient is {:.3g}, at others {:.3g} "
                    "on average ({:.3g} times as large)",
                    there, elsewhere, elsewhere > 0 ? there / elsewhere : INFINITY));
  }
  section.figures.push_back(
      {"gradient-by-lag",
       gradient_figure(result, title,
                       {run.label, fmt::format("dots: mean over {} losses", result.at("losses").get<std::int64_t>())}),
       "x is what enters the first layer. Dashed: least squares on the logarithms, from lag 1."});
  Table table{.columns = {{"lag", Align::right}, {"mean gradient", Align::right}, {"losses", Align::right}},
              .rows = {}};
  for (const Json& one : result["lags"])
    table.rows.push_back({one.at("lag").dump(),
                          one.at("mean").is_number() ? fmt::format("{:.4g}", one["mean"].get<double>()) : "-",
                          one.at("count").dump()});
  section.tables.push_back({"Gradient by lag", table, "", true, "gradient-by-lag"});
  return section;
}

}  // namespace mneme::report
