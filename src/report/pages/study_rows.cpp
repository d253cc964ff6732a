#include "report/pages/study_rows.h"

#include <algorithm>
#include <limits>
#include <map>

#include "core/files.h"

namespace mneme::report {
namespace {

double number_or_nan(const Json& values, const char* name) {
  const auto found = values.find(name);
  return found != values.end() && found->is_number() ? found->get<double>() : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace

ResultRow row_of(const store::RunRecord& record) {
  ResultRow row;
  row.run = record.id;
  row.config = parse_json(record.config, record.id);
  row.outcome = store::run_state_name(record.state);
  if (record.state == store::RunState::failed) row.reason = record.reason;
  row.validation_accuracy = record.validation_accuracy;
  row.test_accuracy = record.test_accuracy;
  row.steps = record.steps;
  row.seconds = record.seconds;
  if (!record.summary.empty()) row.values = parse_json(record.summary, record.id).value("values", Json::object());
  return row;
}

void add_metrics(ResultRow& row, const std::vector<store::MetricRow>& metrics) {
  for (const store::MetricRow& metric : metrics) {
    const Json values = parse_json(metric.values, row.run);
    row.metrics.push_back({.step = metric.step,
                           .train_loss = number_or_nan(values, "train_loss"),
                           .loss = number_or_nan(values, "loss"),
                           .accuracy = number_or_nan(values, "accuracy"),
                           .exact_match = number_or_nan(values, "exact_match")});
  }
}

void add_details(ResultRow& row, const std::vector<FigureRequest>& figures, store::Index& index,
                 const store::Lab& lab) {
  const auto any = [&](bool FigureKind::*needs) {
    return std::any_of(figures.begin(), figures.end(),
                       [&](const FigureRequest& figure) { return figure.kind->*needs; });
  };
  add_metrics(row, index.metrics(row.run));
  const Path traces = lab.run(row.run).path() / "traces.json";
  if (any(&FigureKind::needs_traces) && std::filesystem::exists(traces))
    row.traces = parse_json(read_file(traces), traces.string()).value("signals", Json::array());
}

ResultRow complete_row(const store::RunRecord& record, const config::RunConfig& run,
                       const std::vector<FigureRequest>& figures, store::Index& index, const store::Lab& lab) {
  ResultRow row = row_of(record);
  add_run_facts(row, run);
  add_details(row, figures, index, lab);
  return row;
}

std::vector<ResultRow> rows_of(const study::Study& study, const std::vector<FigureRequest>& figures,
                               store::Index& index, const store::Lab& lab) {
  std::vector<ResultRow> rows;
  for (const config::RunConfig& run : study.runs)
    if (const auto record = index.find(run.id)) rows.push_back(complete_row(*record, run, figures, index, lab));
  return rows;
}

std::vector<Environment> environments_of(const std::vector<ResultRow>& rows, const store::Lab& lab) {
  std::map<std::string, Environment> found;
  for (const ResultRow& row : rows) {
    const Path file = lab.run(row.run).path() / "environment.json";
    if (!std::filesystem::exists(file)) continue;
    const Json fingerprint = parse_json(read_file(file), file.string());
    Environment& environment = found[canonical(fingerprint)];
    environment.fingerprint = fingerprint;
    ++environment.runs;
  }
  std::vector<Environment> environments;
  for (auto& [text, environment] : found) environments.push_back(std::move(environment));
  return environments;
}

}  // namespace mneme::report
