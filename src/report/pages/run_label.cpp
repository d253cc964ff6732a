#include "report/pages/run_label.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/text.h"
#include "report/stats/format.h"

namespace mneme::report {
namespace {

std::string value_text(const std::string& path, const Json& value) {
  if (path == "train.lr") return format_rate(value.get<double>());
  return value.is_string() ? value.get<std::string>() : value.dump();
}

std::optional<double> number(const Json& object, const char* pointer) {
  const Json::json_pointer at(pointer);
  if (!object.contains(at) || !object.at(at).is_number()) return std::nullopt;
  return object.at(at).get<double>();
}

}  // namespace

RunLabels::RunLabels(std::span<const study::Axis> axes) : paths_{"model.mixer"} {
  for (const study::Axis& axis : axes)
    if (axis.path != "model.mixer" && axis.path != "train.lr" && axis.path != "train.seed") paths_.push_back(axis.path);
  paths_.insert(paths_.end(), {"train.lr", "train.seed"});
}

std::string RunLabels::of(const config::RunConfig& run) const {
  std::vector<std::string> parts;
  const Json config = run.json();
  for (const std::string& path : paths_) {
    Json::json_pointer pointer;
    for (const std::string& part : split(path, '.')) pointer /= part;
    // An option of a mixer that this run does not use is an axis of others.
    if (!config.contains(pointer)) continue;
    const std::string text = value_text(path, config.at(pointer));
    parts.push_back(path == "model.mixer" ? text : fmt::format("{} {}", pointer.back(), text));
  }
  return join(parts, ", ");
}

std::string percent(const std::optional<double>& fraction) {
  return fraction ? fmt::format("{} %", format_percent(*fraction)) : "-";
}

std::string describe_result(const run::RunResult& result) {
  const std::string state(store::run_state_name(result.state));
  if (result.state != store::RunState::done && result.state != store::RunState::diverged)
    return result.reason.empty() ? state : fmt::format("{}: {}", state, result.reason);
  std::vector<std::string> parts;
  parts.push_back(fmt::format("{} ({}) after {} steps", state, result.reason,
                              grouped(static_cast<std::int64_t>(number(result.summary, "/values/step").value_or(0)))));
  parts.push_back("validation " + percent(number(result.summary, "/values/validation/accuracy")));
  if (const auto test = number(result.summary, "/values/test/accuracy")) parts.push_back("test " + percent(test));
  if (const auto seconds = number(result.summary, "/times/seconds")) parts.push_back(duration(*seconds));
  return join(parts, ", ");
}

}  // namespace mneme::report
