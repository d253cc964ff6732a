#include "report/stats/matrix.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "core/error.h"
#include "core/text.h"
#include "report/stats/generalisation.h"

namespace mneme::report {
namespace {

constexpr std::string_view kAlongAxis = "generalisation.";

// Where a column's values come from: values of the fields, number of the metric, value of the axis.
using ColumnKey = std::tuple<std::vector<Json>, std::size_t, std::optional<double>>;

// The summaries of a cell for one metric: one, or one for each value of the axis.
std::map<std::optional<double>, Summary> summaries(const Cell& cell, const std::string& metric, double threshold) {
  std::map<std::optional<double>, Summary> result;
  if (metric.starts_with(kAlongAxis)) {
    for (const auto& [value, summary] : generalisation_summary(cell.rows, metric.substr(kAlongAxis.size()), threshold))
      result.emplace(value, summary);
    return result;
  }
  std::vector<double> scores;
  for (const ResultRow* row : cell.rows)
    if (const auto score = metric_of(*row, metric)) scores.push_back(*score);
  if (!scores.empty()) result.emplace(std::nullopt, summarize(scores, threshold));
  return result;
}

bool passes(const Summary& summary, const Options& options) {
  return options.is_word("share") ? summary.mean >= options.real("threshold")
                                  : summary.success_rate >= options.real("share");
}

// "length 16, two isi, blanks 50": what tells this column from the others.
std::string column_name(const ColumnKey& key, const std::string& fields, const std::vector<std::string>& metrics,
                        const std::string& axis) {
  const auto& [values, metric, at] = key;
  std::vector<std::string> parts;
  if (!fields.empty()) parts.push_back(fields);
  if (metrics.size() > 1) {
    std::string name = metrics[metric].substr(metrics[metric].rfind('.') + 1);
    std::replace(name.begin(), name.end(), '_', ' ');
    parts.push_back(name);
  }
  if (at) parts.push_back(fmt::format("{} {}", axis, *at));
  if (parts.empty()) {
    std::string name = metrics[metric];
    std::replace(name.begin(), name.end(), '.', ' ');
    return name;
  }
  return join(parts, ", ");
}

std::vector<std::string> names_of(const std::set<ColumnKey>& keys, const Options& options, const std::string& axis) {
  std::vector<std::vector<Json>> values;
  for (const ColumnKey& key : keys) values.push_back(std::get<0>(key));
  const std::vector<std::string> fields = panel_names(values, options.texts("columns"));
  std::vector<std::string> names;
  for (const ColumnKey& key : keys)
    names.push_back(column_name(key, fields[names.size()], options.texts("metrics"), axis));
  return names;
}

}  // namespace

std::optional<double> metric_of(const ResultRow& row, const std::string& path) {
  Json::json_pointer pointer;
  for (const std::string& part : split(path, '.')) pointer /= part;
  if (!row.values.contains(pointer)) {
    if (path == "test.accuracy") return counted_test_accuracy(row);
    if (path == "validation.accuracy") return counted_validation_accuracy(row);
    return row.outcome == "done" ? std::nullopt : std::optional(0.0);
  }
  const Json& value = row.values.at(pointer);
  if (value.is_boolean()) return value.get<bool>() ? 1.0 : 0.0;
  if (value.is_null()) return 0.0;
  if (!value.is_number())
    throw Error(ErrorKind::data, fmt::format("run {}", row.run),
                fmt::format("{} of its summary, got {}, expected a number, true or false", path,
                            value.dump(-1, ' ', false, Json::error_handler_t::replace)));
  return value.get<double>();
}

Matrix make_matrix(std::span<const ResultRow> rows, const FigureSubject& subject, const Options& options) {
  const std::vector<std::string> metrics = options.texts("metrics");
  const Cells cells = sort_into_cells(rows, {.panels = {}, .points = options.texts("columns")});
  std::set<ColumnKey> keys;
  std::set<std::string> axes;
  std::map<std::pair<std::size_t, ColumnKey>, MatrixCell> found;
  for (const Cell& cell : cells.cells) {
    const auto model = static_cast<std::size_t>(std::find(cells.series.begin(), cells.series.end(), cell.series) -
                                                cells.series.begin());
    for (const ResultRow* row : cell.rows) axes.insert(generalisation_axis(*row));
    for (std::size_t metric = 0; metric < metrics.size(); ++metric)
      for (const auto& [at, summary] : summaries(cell, metrics[metric], options.real("threshold"))) {
        MatrixCell entry{
            .summary = summary, .passes = passes(summary, options), .paper = {}, .paper_text = "", .runs = {}};
        if (const auto* said = study::find_paper_value(subject.paper, cell.rows.front()->config, at, metrics[metric])) {
          entry.paper = said->passes;
          if (!entry.paper && said->value) entry.paper = *said->value >= options.real("threshold");
          entry.paper_text = said->shown();
        }
        for (const ResultRow* row : cell.rows) entry.runs.push_back(row->run);
        const ColumnKey key{cell.point, metric, at};
        keys.insert(key);
        found.emplace(std::make_pair(model, key), std::move(entry));
      }
  }
  axes.erase("");
  Matrix matrix{.models = cells.series,
                .columns = names_of(keys, options, axes.size() == 1 ? *axes.begin() : "value"),
                .cells = {},
                .counts = cells.counts};
  for (auto& [place, entry] : found)
    matrix.cells[{place.first, static_cast<std::size_t>(std::distance(keys.begin(), keys.find(place.second)))}] =
        std::move(entry);
  return matrix;
}

}  // namespace mneme::report
