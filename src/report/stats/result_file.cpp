#include "report/stats/result_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <map>

#include "config/short_config.h"
#include "core/error.h"

namespace mneme::report {
namespace {

Json number(double value) { return std::isfinite(value) ? Json(value) : Json(); }
Json number(const std::optional<double>& value) { return value ? number(*value) : Json(); }
// To six digits: curves are most of a file.
Json short_number(double value) {
  return std::isfinite(value) ? Json(std::strtod(fmt::format("{:.6g}", value).c_str(), nullptr)) : Json();
}
double number_or_nan(const Json& value) {
  return value.is_null() ? std::numeric_limits<double>::quiet_NaN() : value.get<double>();
}

Json curve_of(const ResultRow& row) {
  Json curve = Json::array();
  for (const MetricPoint& point : row.metrics) {
    Json entry = {point.step, short_number(point.loss), short_number(point.accuracy), short_number(point.train_loss)};
    if (std::isfinite(point.exact_match)) entry.push_back(short_number(point.exact_match));
    curve.push_back(std::move(entry));
  }
  return curve;
}

// `config` is the short configuration if it is known already.
Json line_of(const ResultRow& row, const Json* config) {
  Json values = row.values;
  values.erase("weights_sha256");
  Json line = {{"run", row.run},
               {"mixer", mixer_name(row)},
               {"lr", learning_rate(row)},
               {"seed", row.config.at("train").at("seed")},
               {"config", config != nullptr ? *config : config::short_config(row.config)},
               {"outcome", row.outcome},
               {"steps", row.steps},
               {"validation", number(row.validation_accuracy)},
               {"test", number(row.test_accuracy)},
               {"values", values}};
  if (row.tokens_per_step > 0) line["tokens_per_step"] = row.tokens_per_step;
  if (std::isfinite(row.initial_loss)) line["initial_loss"] = short_number(row.initial_loss);
  if (!row.reason.empty()) line["reason"] = row.reason;
  if (!row.metrics.empty()) line["curve"] = curve_of(row);
  return line;
}

std::vector<MetricPoint> points_of(const Json& line) {
  std::vector<MetricPoint> points;
  if (line.contains("curve")) {
    for (const Json& point : line.at("curve"))
      points.push_back({.step = point.at(0).get<std::int64_t>(),
                        .train_loss = number_or_nan(point.at(3)),
                        .loss = number_or_nan(point.at(1)),
                        .accuracy = number_or_nan(point.at(2)),
                        .exact_match = point.size() > 4 ? number_or_nan(point.at(4)) : number_or_nan(Json())});
    return points;
  }
  for (const Json& point : line.value("metrics", Json::array()))
    points.push_back({.step = point.at(0).get<std::int64_t>(),
                      .train_loss = number_or_nan(point.at(1)),
                      .loss = number_or_nan(point.at(2)),
                      .accuracy = number_or_nan(point.at(3))});
  return points;
}

ResultRow row_of_line(const Json& line, const config::RunConfig& run) {
  ResultRow row;
  row.run = run.id;
  row.config = run.json();
  row.outcome = line.at("outcome").get<std::string>();
  row.reason = line.value("reason", "");
  row.steps = line.at("steps").get<std::int64_t>();
  if (!line.at("validation").is_null()) row.validation_accuracy = line.at("validation").get<double>();
  if (!line.at("test").is_null()) row.test_accuracy = line.at("test").get<double>();
  row.values = line.at("values");
  row.metrics = points_of(line);
  add_run_facts(row, run);
  return row;
}

// Every line with its place; `use` may throw what parsing throws.
template <typename Use>
void each_line(std::string_view text, std::string_view file, Use use) {
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string where = fmt::format("{}:{}", file, number);
    try {
      const Json line = parse_json(text.substr(0, end), where);
      use(line.at("run").get<std::string>(), line, text.substr(0, end), where);
    } catch (const Json::exception& error) {
      throw Error(ErrorKind::data, where,
                  fmt::format("not a result, expected run, outcome, steps, ...: {}", error.what()));
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

std::string text_of(const std::map<std::string, std::string>& lines) {
  std::string text;
  for (const auto& [run, line] : lines) text += line + "\n";
  return text;
}

}  // namespace

std::string write_results(std::span<const ResultRow> rows) { return merge_results("", "", rows); }

std::string merge_results(std::string_view kept, std::string_view file, std::span<const ResultRow> rows) {
  std::map<std::string, std::string> lines;
  std::map<std::string, Json> configs;  // shortening costs a millisecond or two each
  each_line(kept, file, [&](const std::string& run, const Json& line, std::string_view text, const std::string&) {
    lines[run] = text;
    if (line.contains("config")) configs[run] = line.at("config");
  });
  for (const ResultRow& row : rows) {
    if (!is_result(row)) continue;
    const auto known = configs.find(row.run);
    lines[row.run] = line_of(row, known == configs.end() ? nullptr : &known->second).dump();
  }
  return text_of(lines);
}

KeptResults read_results(std::string_view text, std::string_view file, std::span<const config::RunConfig> runs) {
  std::map<std::string, const config::RunConfig*> known;
  for (const config::RunConfig& run : runs) known[run.id] = &run;
  KeptResults kept;
  config::RunResolver resolver;
  each_line(text, file, [&](const std::string& id, const Json& line, std::string_view, const std::string& where) {
    const auto run = known.find(id);
    if (run == known.end()) {
      ++kept.not_planned;
      return;
    }
    if (line.contains("config"))
      if (const std::string named = resolver.resolve(config_from_json(line.at("config"), where)).id; named != id)
        throw Error(ErrorKind::data, where, fmt::format("the configuration is that of run {}, expected {}", named, id));
    kept.rows.push_back(row_of_line(line, *run->second));
  });
  return kept;
}

}  // namespace mneme::report
