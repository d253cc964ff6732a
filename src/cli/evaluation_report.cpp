#include "cli/evaluation_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/text.h"
#include "report/pages/run_label.h"
#include "report/stats/format.h"

namespace mneme::cli {
namespace {

report::ResultRow row_of(const KeptEvaluation& kept) {
  report::ResultRow row = report::row_of(kept.record);
  // It was evaluated, however its training ended.
  row.outcome = "done";
  const Json& values = kept.evaluation.at("values");
  row.values = {{"test", values.at("points").back()}};
  if (!values.at("axis").get<std::string>().empty()) row.values["generalisation"] = values;
  return row;
}

// Values that grow by factors are read on a logarithmic axis.
bool grows_by_factors(const Json& points) {
  const auto first = points.front().at("value").get<double>(), last = points.back().at("value").get<double>();
  return points.size() > 2 && first > 0 && last >= 8 * first && points[1].at("value").get<double>() >= 1.5 * first;
}

std::string title_of(const Json& asked) {
  const std::string along = asked.at("along");
  std::vector<std::string> changed;
  for (const auto& [key, value] : asked.at("task").items())
    changed.push_back(fmt::format("{} = {}", key, value.is_string() ? value.get<std::string>() : value.dump()));
  return fmt::format("Trained models {}{}", along.empty() ? "on other data" : "along " + along,
                     changed.empty() ? "" : "; " + join(changed, ", "));
}

std::vector<report::FigureRequest> figures_of(const std::vector<report::ResultRow>& rows, const std::string& title) {
  std::vector<report::FigureRequest> figures;
  const auto add = [&](const char* kind, const std::string& what) {
    figures.push_back(report::default_figure(kind));
    figures.back().options.set("title", what);
  };
  const report::ResultRow& first = rows.front();
  if (first.values.contains("generalisation")) {
    add("extrapolation", title);
    if (grows_by_factors(first.values["generalisation"]["points"])) figures.back().options.set("scale", "log");
  }
  const Json& last = first.values["test"];
  const std::string where =
      last["value"].is_null() ? title : fmt::format("{}, at the last value ({})", title, last["value"].dump());
  for (const auto& [kind, metric] :
       {std::pair{"by-position", "accuracy_by_position"}, std::pair{"by-distance", "accuracy_by_distance"}})
    if (std::any_of(rows.begin(), rows.end(), [&metric = metric](const report::ResultRow& row) {
          return row.values["test"].contains(metric) && !row.values["test"][metric].empty();
        }))
      add(kind, where);
  return figures;
}

std::string score_text(const Json& point, const char* name) {
  const Json value = point.value(name, Json());
  if (!value.is_number()) return "not finite";
  return std::string_view(name) == "loss" ? fmt::format("{:.3g}", value.get<double>())
                                          : report::percent(value.get<double>());
}

}  // namespace

report::StudyReport report_evaluations(const std::vector<KeptEvaluation>& kept, const std::string& name,
                                       const store::Lab& lab) {
  std::vector<report::ResultRow> rows;
  for (const KeptEvaluation& one : kept) rows.push_back(row_of(one));
  report::ReportSubject subject{.name = "evaluate-" + name,
                                .title = title_of(kept.front().evaluation.at("asked")),
                                .scale = "",
                                .figures = {},
                                .chance = {},
                                .planned = rows.size(),
                                .paper = {},
                                .environments = report::environments_of(rows, lab)};
  subject.figures = figures_of(rows, subject.title);
  return report::write_report(rows, subject, lab.reports());
}

report::Table point_table(const std::vector<KeptEvaluation>& kept) {
  constexpr double kMebibyte = 1 << 20;
  using report::Align;
  const std::string axis = kept.front().evaluation.at("values").at("axis");
  report::Table table{.columns = {{"run"}, {"mixer"}, {"seed", Align::right}}, .rows = {}};
  if (!axis.empty()) table.columns.push_back({axis, Align::right});
  if (axis != "length") table.columns.push_back({"length", Align::right});
  for (const char* name : {"examples", "accuracy", "exact", "loss"}) table.columns.push_back({name, Align::right});
  table.columns.push_back({"read by"});
  for (const char* name : {"tokens/s", "memory (MiB)"}) table.columns.push_back({name, Align::right});
  for (const KeptEvaluation& one : kept) {
    const Json &points = one.evaluation.at("values").at("points"), &times = one.evaluation.at("times").at("points");
    for (std::size_t i = 0; i < points.size(); ++i) {
      const Json& point = points[i];
      std::vector<std::string> row{one.record.id, one.record.mixer, std::to_string(one.record.seed)};
      if (!axis.empty()) row.push_back(point.at("value").dump());
      if (axis != "length") row.push_back(grouped(point.at("length").get<std::int64_t>()));
      row.insert(row.end(),
                 {grouped(point.at("examples").get<std::int64_t>()), score_text(point, "accuracy"),
                  score_text(point, "exact_match"), score_text(point, "loss"), point.at("mode").get<std::string>(),
                  grouped(static_cast<std::int64_t>(times[i].at("tokens_per_second").get<double>())),
                  fmt::format("{:.0f}", times[i].at("peak_bytes").get<double>() / kMebibyte)});
      table.rows.push_back(std::move(row));
    }
  }
  return table;
}

report::Table phase_table(const std::vector<KeptEvaluation>& kept) {
  using report::Align;
  const std::string axis = kept.front().evaluation.at("values").at("axis");
  report::Table table{.columns = {{"run"}, {"mixer"}, {"seed", Align::right}}, .rows = {}};
  if (!axis.empty()) table.columns.push_back({axis, Align::right});
  table.columns.push_back({"ends predicted", Align::right});
  for (const char* name : {"offset", "two ISIs", "double ISI", "double ISI, gap 1"}) table.columns.push_back({name});
  for (const KeptEvaluation& one : kept)
    for (const Json& point : one.evaluation.at("values").at("points")) {
      if (!point.contains("phases")) continue;
      const Json& phases = point.at("phases");
      std::vector<std::string> row{one.record.id, one.record.mixer, std::to_string(one.record.seed)};
      if (!axis.empty()) row.push_back(point.at("value").dump());
      row.push_back(report::percent(phases.at("offset").get<double>()));
      for (const char* test : {"offset_passed", "two_isi", "double_isi", "double_isi_gap_1"})
        row.emplace_back(phases.at(test).get<bool>() ? "passed" : "failed");
      table.rows.push_back(std::move(row));
    }
  return table;
}

}  // namespace mneme::cli
