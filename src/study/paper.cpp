#include "study/paper.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.h"

namespace mneme::study {
namespace {

const std::vector<std::string> kKeys = {"value", "passes", "says", "at", "metric"};

template <typename Value>
std::optional<Value> read(const ConfigValue& table, const char* key, const char* expected) {
  const ConfigValue* written = table.find(key);
  if (written == nullptr) return std::nullopt;
  if (const auto* value = std::get_if<Value>(&written->value)) return *value;
  if constexpr (std::is_same_v<Value, double>)
    if (const auto* whole = std::get_if<std::int64_t>(&written->value)) return static_cast<double>(*whole);
  throw Error(ErrorKind::usage, written->origin,
              fmt::format("paper.{}: got {}, expected {}", key, written->shown(), expected));
}

}  // namespace

std::string PaperValue::shown() const {
  if (!says.empty()) return says;
  if (value) return fmt::format("{:.1f}", 100 * *value);
  return *passes ? "✓" : "✗";
}

PaperValue parse_paper_value(const ConfigValue& table) {
  PaperValue paper{.conditions = Conditions(table, "paper", kKeys),
                   .value = read<double>(table, "value", "a number from 0 to 1"),
                   .passes = read<bool>(table, "passes", "true or false"),
                   .says = read<std::string>(table, "says", "a string").value_or(""),
                   .at = read<double>(table, "at", "a number"),
                   .metric = read<std::string>(table, "metric", "a string").value_or("")};
  if (paper.value && !(*paper.value >= 0 && *paper.value <= 1))
    throw Error(ErrorKind::usage, table.find("value")->origin,
                fmt::format("paper.value: got {}, expected a number from 0 to 1", *paper.value));
  if (!paper.value && !paper.passes && paper.says.empty())
    throw Error(ErrorKind::usage, table.origin, "paper: got only conditions, expected value, passes or says as well");
  return paper;
}

const PaperValue* find_paper_value(std::span<const PaperValue> values, const Json& config, std::optional<double> at,
                                   std::string_view metric) {
  const auto found = std::find_if(values.begin(), values.end(), [&](const PaperValue& value) {
    return value.at == at && (value.metric.empty() || value.metric == metric) && value.conditions.hold_for(config);
  });
  return found == values.end() ? nullptr : &*found;
}

}  // namespace mneme::study
