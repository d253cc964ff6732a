#include <fmt/format.h>

#include <algorithm>

#include "report/figures/figure_style.h"
#include "report/figures/inspections.h"
#include "report/figures/spec.h"

namespace mneme::report {
namespace {

constexpr const char* kAll = "all there is";
constexpr const char* kRead = "read by the model";
constexpr const char* kShuffled = "shuffled labels";

std::string layer_name(const Json& layer) {
  return fmt::format("state of layer {} ({})", layer.at("layer").get<std::int64_t>(),
                     layer.at("mixer").get<std::string>());
}

Json bits_figure(const Json& result, const std::string& title, const std::vector<std::string>& lines) {
  const double most = result.at("bits_per_pair");
  std::vector<std::string> series;
  Json points = Json::array(), ceiling = Json::array();
  const auto add = [&](const std::string& name, const Json& pairs, double bits, double accuracy, const Json& floats) {
    points.push_back({{"series", name},
                      {"pairs", pairs},
                      {"bits", bits},
                      {"accuracy", fmt::format("{:.1f} %", 100 * accuracy)},
                      {"floats", floats}});
  };
  for (const Json& layer : result.at("layers")) {
    series.push_back(layer_name(layer));
    for (const Json& point : layer.at("curve"))
      add(series.back(), point.at("pairs"), point.at("bits"), point.at("accuracy"), point.at("floats"));
  }
  series.emplace_back(kRead);
  double largest = 1;
  for (const Json& point : result.at("read")) {
    add(kRead, point.at("pairs"), point.at("bits"), point.at("accuracy"), Json());
    largest = std::max(largest, point["pairs"].get<double>());
    ceiling.push_back({{"pairs", point["pairs"]}, {"bits", most * point["pairs"].get<double>()}});
  }
  std::vector<double> ticks;
  for (const Json& point : ceiling) ticks.push_back(point["pairs"]);
  const Json x =
      field("pairs", "quantitative",
            {{"scale", {{"type", "log"}, {"base", 2}, {"domain", {1, std::max(2.0, largest)}}}},
             {"axis", {{"title", "Pairs read"}, {"values", ticks}, {"format", "d"}, {"labelFlush", false}}}});
  const Json y = field("bits", "quantitative", {{"axis", {{"title", "Bits about the values"}}}});
  SeriesEncoding look = series_encoding(series);
  // Names of states are not cut off. Both channels share one legend.
  for (Json* encoding : {&look.color, &look.shape}) (*encoding)["legend"]["labelLimit"] = 300;
  Json figure = figure_head(title, lines);
  figure.update(
      {{"width", kFigureWidth},
       {"height", kFigureHeight},
       {"datasets", {{"points", points}, {"ceiling", ceiling}}},
       {"layer",
        Json::array({{{"data", dataset("ceiling")},
                      {"mark", {{"type", "line"}, {"strokeDash", {4, 3}}, {"color", kQuietInk}, {"strokeWidth", 1}}},
                      {"encoding", {{"x", x}, {"y", y}}}},
                     {{"data", dataset("points")},
                      {"mark", {{"type", "line"}, {"strokeWidth", 1.5}}},
                      {"encoding", {{"x", x}, {"y", y}, {"color", look.color}}}},
                     {{"data", dataset("points")},
                      // Hollow: layers that hold the same lie over each other.
                      {"mark", {{"type", "point"}, {"filled", false}, {"size", 50}, {"opacity", 1}}},
                      {"encoding",
                       {{"x", x},
                        {"y", y},
                        {"color", look.color},
                        {"shape", look.shape},
                        {"tooltip", tooltip({{"series", "where"},
                                             {"pairs", "pairs"},
                                             {"bits", "bits"},
                                             {"accuracy", "right"},
                                             {"floats", "floats"}})}}}}})}});
  return figure;
}

Table contents_table(const Json& result) {
  Table table{.columns = {{"where"},
                          {"pairs", Align::right},
                          {"bits", Align::right},
                          {kAll, Align::right},
                          {"floats", Align::right},
                          {"bits per float", Align::right},
                          {"right %", Align::right},
                          {std::string(kShuffled) + " %", Align::right},
                          {"effective rank", Align::right},
                          {"interference", Align::right}},
              .rows = {}};
  const double most = result.at("bits_per_pair");
  const auto percent = [](const Json& share) { return fmt::format("{:.1f}", 100 * share.get<double>()); };
  const auto number = [](double value) { return fmt::format("{:.3g}", value); };
  for (const Json& layer : result.at("layers"))
    for (const Json& point : layer.at("curve")) {
      const double bits = point.at("bits"), floats = point.at("floats"), pairs = point.at("pairs");
      table.rows.push_back({layer_name(layer), number(pairs), fmt::format("{:.1f}", bits), number(most * pairs),
                            fmt::format("{:.0f}", floats), number(bits / floats), percent(point.at("accuracy")),
                            percent(point.at("shuffled")), fmt::format("{:.1f}", point.at("rank").get<double>()),
                            fmt::format("{:.3f}", point.at("interference").get<double>())});
    }
  for (const Json& point : result.at("read")) {
    const double pairs = point.at("pairs");
    table.rows.push_back({kRead, number(pairs), fmt::format("{:.1f}", point.at("bits").get<double>()),
                          number(most * pairs), "-", "-", percent(point.at("accuracy")), "-", "-", "-"});
  }
  return table;
}

// The largest number of bits of a layer, and where.
std::string most_held(const Json& layer, double most) {
  const Json* best = nullptr;
  for (const Json& point : layer.at("curve"))
    if (!best || point.at("bits").get<double>() > best->at("bits").get<double>()) best = &point;
  const double bits = best->at("bits"), floats = best->at("floats");
  return fmt::format(
      "{}: at most {:.1f} bits, {:.1f} pairs' worth, after {} pairs, in {:.0f} floats ({:.2g} bits and "
      "{:.2g} pairs per float)",
      layer_name(layer), bits, bits / most, best->at("pairs").get<std::int64_t>(), floats, bits / floats,
      bits / most / floats);
}

}  // namespace

ReportSection render_state(const Json& result, const InspectedRun& run) {
  const double most = result.at("bits_per_pair");
  ReportSection section;
  for (const Json& layer : result.at("layers")) section.findings.push_back(most_held(layer, most));
  const Json& last = result.at("read").back();
  section.findings.push_back(fmt::format("queried after {} pairs, the model reads back {:.1f} of {:.0f} bits",
                                         last.at("pairs").get<std::int64_t>(), last.at("bits").get<double>(),
                                         most * last.at("pairs").get<double>()));
  const std::string how = fmt::format(
      "values out of {}, {} pairs in training; probes fitted to {} sequences, tested on {}; dashed: all there is",
      result.at("values").get<std::int64_t>(), result.at("own_pairs").get<std::int64_t>(),
      result.at("train").get<std::int64_t>(), result.at("test").get<std::int64_t>());
  section.figures.push_back({"state-bits", bits_figure(result, "What the state holds", {run.label, how}),
                             "Lower bound on the bits about the values of all pairs read so far that a linear map "
                             "finds in the state (from its accuracy, by Fano's inequality)."});
  section.tables.push_back({"What the state holds", contents_table(result),
                            "Interference: mean |cosine| between the changes to the state made by new values of two "
                            "different pairs. Effective rank: that of the states of many sequences.",
                            false, "state-bits"});
  return section;
}

}  // namespace mneme::report
