#include "report/stats/result_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "core/error.h"

namespace mneme::report {
namespace {

Json number(double value) { return std::isfinite(value) ? Json(value) : Json(); }
Json number(const std::optional<double>& value) { return value ? number(*value) : Json(); }
double number_or_nan(const Json& value) {
  return value.is_null() ? std::numeric_limits<double>::quiet_NaN() : value.get<double>();
}

Json line_of(const ResultRow& row) {
  Json values = row.values;
  values.erase("weights_sha256");
  Json line = {{"run", row.run},
               {"mixer", mixer_name(row)},
               {"lr", learning_rate(row)},
               {"seed", row.config.at("train").at("seed")},
               {"outcome", row.outcome},
               {"steps", row.steps},
               {"validation", number(row.validation_accuracy)},
               {"test", number(row.test_accuracy)},
               {"values", values}};
  if (!row.reason.empty()) line["reason"] = row.reason;
  for (const MetricPoint& point : row.metrics)
    line["metrics"].push_back({point.step, number(point.train_loss), number(point.loss), number(point.accuracy)});
  return line;
}

ResultRow row_of_line(const Json& line, const config::RunConfig& run) {
  ResultRow row;
  row.run = run.id;
  row.config = run.json;
  row.outcome = line.at("outcome").get<std::string>();
  row.reason = line.value("reason", "");
  row.steps = line.at("steps").get<std::int64_t>();
  if (!line.at("validation").is_null()) row.validation_accuracy = line.at("validation").get<double>();
  if (!line.at("test").is_null()) row.test_accuracy = line.at("test").get<double>();
  row.values = line.at("values");
  for (const Json& point : line.value("metrics", Json::array()))
    row.metrics.push_back({point.at(0).get<std::int64_t>(), number_or_nan(point.at(1)), number_or_nan(point.at(2)),
                           number_or_nan(point.at(3))});
  return row;
}

}  // namespace

std::string write_results(std::span<const ResultRow> rows) {
  std::map<std::string, std::string> lines;
  for (const ResultRow& row : rows)
    if (is_result(row)) lines[row.run] = line_of(row).dump();
  std::string text;
  for (const auto& [run, line] : lines) text += line + "\n";
  return text;
}

std::vector<ResultRow> read_results(std::string_view text, std::string_view file,
                                    std::span<const config::RunConfig> runs) {
  std::map<std::string, const config::RunConfig*> known;
  for (const config::RunConfig& run : runs) known[run.id] = &run;
  std::vector<ResultRow> rows;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string where = fmt::format("{}:{}", file, number);
    try {
      const Json line = parse_json(text.substr(0, end), where);
      const auto run = known.find(line.at("run").get<std::string>());
      if (run == known.end())
        throw Error(ErrorKind::data, where,
                    fmt::format("run {} is not in the study, expected one of its {} runs: the study has changed since",
                                line.at("run").get<std::string>(), known.size()));
      rows.push_back(row_of_line(line, *run->second));
    } catch (const Json::exception& error) {
      throw Error(ErrorKind::data, where,
                  fmt::format("not a result, expected run, outcome, steps, ...: {}", error.what()));
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return rows;
}

}  // namespace mneme::report
