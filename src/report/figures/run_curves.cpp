#include "report/figures/run_curves.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "report/figures/figure_style.h"
#include "report/figures/spec.h"
#include "report/stats/format.h"

namespace mneme::report {
namespace {

bool is_share(const std::string& metric) { return metric.ends_with("accuracy") || metric == "exact_match"; }

// "train_loss" -> "Train loss".
std::string axis_title(const std::string& metric) {
  std::string title = metric;
  std::replace(title.begin(), title.end(), '_', ' ');
  title.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(title.front())));
  if (metric == "loss" || metric == "accuracy") title = "Validation " + metric;
  if (metric.ends_with("seconds")) return title + " (s)";
  return is_share(metric) ? title + " (%)" : title;
}

// A number of an evaluation, null where it has none or it was not finite.
Json number_in(const Json& evaluation, const std::string& metric) {
  for (const char* part : {"values", "times"})
    if (const auto found = evaluation.find(part); found != evaluation.end())
      if (const auto value = found->find(metric); value != found->end() && value->is_number()) return *value;
  return nullptr;
}

Json curve_points(const std::vector<RunCurves>& runs, const std::vector<std::string>& metrics) {
  Json points = Json::array();
  for (const RunCurves& run : runs)
    for (const Json& evaluation : run.evaluations)
      for (std::size_t i = 0; i < metrics.size(); ++i)
        if (const Json value = number_in(evaluation, metrics[i]); !value.is_null())
          points.push_back({{"panel", i},
                            {"series", run.label},
                            {"run", run.row.run},
                            {"step", evaluation.at("step")},
                            {"value", is_share(metrics[i]) ? 100 * value.get<double>() : value.get<double>()}});
  return points;
}

Json curve_plot(std::size_t panel, std::size_t panels, const std::string& metric, const Json& color, bool logarithmic,
                std::int64_t last_step) {
  const bool last = panel + 1 == panels;
  const Json x = field(
      "step", "quantitative",
      {{"scale", {{"domain", {0, last_step}}, {"nice", false}}},
       {"axis", {{"title", last ? Json("Step") : Json()}, {"labels", last}, {"format", ",d"}, {"tickCount", 5}}}});
  const Json scale = logarithmic ? Json{{"type", "log"}} : Json{{"zero", metric.ends_with("loss")}};
  const Json y = is_share(metric)
                     ? percent_axis("value", axis_title(metric))
                     : field("value", "quantitative", {{"scale", scale}, {"axis", {{"title", axis_title(metric)}}}});
  const Json tip = tooltip({{"series", "model"}, {"run", "run"}, {"step", "step"}, {"value", "value"}});
  return {{"data", dataset("curves")},
          {"transform", only_panel(panel, logarithmic && !is_share(metric) ? "datum.value > 0" : "")},
          {"width", kFigureWidth},
          {"height", kFigureHeight * 3 / 4},
          {"mark", {{"type", "line"}, {"strokeWidth", 1.8}, {"point", {{"size", 12}}}}},
          {"encoding", {{"x", x}, {"y", y}, {"color", color}, {"detail", field("run", "nominal")}, {"tooltip", tip}}}};
}

}  // namespace

void name_curves(std::vector<RunCurves>& runs) {
  std::vector<ResultRow> rows;
  std::set<double> rates;
  std::set<std::string> seeds;
  for (const RunCurves& run : runs) {
    rows.push_back(run.row);
    rates.insert(learning_rate(run.row));
    seeds.insert(seed_text(run.row));
  }
  const std::vector<std::string> labels = series_labels(rows);
  std::map<std::string, int> times;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    std::string& label = runs[i].label = labels[i];
    if (rates.size() > 1) label += fmt::format(", rate {}", format_rate(learning_rate(rows[i])));
    if (seeds.size() > 1) label += fmt::format(", seed {}", seed_text(rows[i]));
    ++times[label];
  }
  for (RunCurves& run : runs)
    if (times[run.label] > 1) run.label += fmt::format(" ({})", run.row.run.substr(0, 6));
}

std::vector<std::string> curve_metrics(const std::vector<RunCurves>& runs) {
  std::set<std::string> names;
  for (const RunCurves& run : runs)
    for (const Json& evaluation : run.evaluations)
      for (const char* part : {"values", "times"})
        if (const auto found = evaluation.find(part); found != evaluation.end())
          for (const auto& [name, value] : found->items())
            if (value.is_number()) names.insert(name);
  return {names.begin(), names.end()};
}

Json run_curves_figure(const std::vector<RunCurves>& runs, const std::vector<std::string>& metrics,
                       const CurvesText& text) {
  std::vector<ResultRow> rows;
  std::vector<std::string> labels;
  for (const RunCurves& run : runs) {
    rows.push_back(run.row);
    labels.push_back(run.label);
  }
  std::sort(labels.begin(), labels.end(), LabelOrder{});
  const std::vector<std::string> lines{setup_line(rows),
                                       fmt::format("{} {}", runs.size(), runs.size() == 1 ? "run" : "runs")};
  const Json points = curve_points(runs, metrics);
  if (points.empty()) return empty_figure(text.title, lines, "no evaluations yet");
  std::int64_t last_step = 1;
  for (const Json& point : points) last_step = std::max(last_step, point["step"].get<std::int64_t>());
  Json figure = figure_head(text.title, lines);
  figure["datasets"] = {{"curves", points}};
  figure["spacing"] = 10;
  figure["vconcat"] = Json::array();
  const Json color = series_encoding(labels).color;
  for (std::size_t i = 0; i < metrics.size(); ++i)
    figure["vconcat"].push_back(curve_plot(i, metrics.size(), metrics[i], color, text.logarithmic, last_step));
  return figure;
}

Records run_curves_records(const std::vector<RunCurves>& runs, const std::vector<std::string>& metrics) {
  Records records;
  for (const RunCurves& run : runs)
    for (const Json& evaluation : run.evaluations) {
      Record& record = records.emplace_back();
      record = {{"run", run.row.run}, {"label", run.label}, {"step", evaluation.at("step")}};
      for (const std::string& metric : metrics) record[metric] = number_in(evaluation, metric);
    }
  return records;
}

}  // namespace mneme::report
