#include "report/stats/generalisation.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.h"

namespace mneme::report {
namespace {

const Json* tested(const ResultRow& row) {
  const auto found = row.values.find("generalisation");
  return found == row.values.end() || found->is_null() ? nullptr : &*found;
}

[[noreturn]] void wrong(const ResultRow& row, std::string_view what, const Json& got, std::string_view expected) {
  throw Error(ErrorKind::data, fmt::format("run {}", row.run),
              fmt::format("{} of values.generalisation, got {}, expected {}", what,
                          got.dump(-1, ' ', false, Json::error_handler_t::replace), expected));
}

const Json& member(const ResultRow& row, const Json& object, std::string_view name) {
  if (!object.is_object() || !object.contains(name)) wrong(row, name, object, "an object that has it");
  return object.at(name);
}

}  // namespace

std::string generalisation_axis(const ResultRow& row) {
  if (const Json* summary = tested(row)) {
    const Json& axis = member(row, *summary, "axis");
    if (!axis.is_string()) wrong(row, "axis", axis, "a name");
    return axis.get<std::string>();
  }
  const Json* along = config_value(row, "test.along");
  return along != nullptr && along->is_string() ? along->get<std::string>() : "";
}

std::map<double, double> generalisation_points(const ResultRow& row, const std::string& metric) {
  std::map<double, double> points;
  const Json* summary = tested(row);
  if (summary == nullptr) return points;
  const Json& list = member(row, *summary, "points");
  if (!list.is_array()) wrong(row, "points", list, "a list");
  for (const Json& point : list) {
    const Json& value = member(row, point, "value");
    const Json& score = member(row, point, metric);
    if (!value.is_number()) wrong(row, "value", value, "a number");
    const double fraction = score.is_number() ? score.get<double>() : score.is_null() ? 0.0 : -1.0;
    if (!(fraction >= 0 && fraction <= 1)) wrong(row, metric, score, "a number from 0 to 1");
    if (!points.emplace(value.get<double>(), fraction).second) wrong(row, "points", value, "each value once");
  }
  return points;
}

std::optional<double> trained_up_to(const ResultRow& row, const std::string& axis) {
  const Json* value = config_value(row, "task." + axis);
  if (value == nullptr) return std::nullopt;
  if (value->is_number()) return value->get<double>();
  std::optional<double> most;
  if (value->is_array())
    for (const Json& one : *value)
      if (one.is_number()) most = std::max(most.value_or(one.get<double>()), one.get<double>());
  return most;
}

std::map<double, Summary> generalisation_summary(const std::vector<const ResultRow*>& rows, const std::string& metric,
                                                 double threshold) {
  std::map<double, std::vector<double>> scores;
  std::size_t never_tested = 0;
  for (const ResultRow* row : rows) {
    const auto points = generalisation_points(*row, metric);
    for (const auto& [value, score] : points) scores[value].push_back(score);
    if (points.empty() && row->outcome != "done") ++never_tested;
  }
  std::map<double, Summary> summaries;
  for (auto& [value, list] : scores) {
    list.insert(list.end(), never_tested, 0.0);
    summaries.emplace(value, summarize(list, threshold));
  }
  return summaries;
}

}  // namespace mneme::report
