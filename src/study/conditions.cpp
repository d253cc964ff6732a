#include "study/conditions.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.h"
#include "core/text.h"

namespace mneme::study {
namespace {

// The value at a path of a tree, or nullptr.
const ConfigValue* value_at(const ConfigValue& root, const std::string& path) {
  const ConfigValue* place = &root;
  for (const std::string& part : split(path, '.')) {
    place = place->is_table() ? place->find(part) : nullptr;
    if (!place) return nullptr;
  }
  return place;
}

bool compare(const Json& a, const std::string& comparison, const Json& b) {
  if (comparison == "=") return a == b;
  if (comparison == "!=") return a != b;
  if (a.is_number() != b.is_number() || a.is_string() != b.is_string()) return false;
  if (comparison == "<") return a < b;
  if (comparison == "<=") return a <= b;
  if (comparison == ">") return a > b;
  return a >= b;
}

Json::json_pointer pointer_of(const std::string& path) {
  Json::json_pointer pointer;
  for (const std::string& part : split(path, '.')) pointer /= part;
  return pointer;
}

bool has_field(const Json& config, const std::string& path) {
  const Json::json_pointer pointer = pointer_of(path);
  return config.contains(pointer) && !config.at(pointer).is_object();
}

Json read_value(std::string_view text) {
  const auto start = text.find_first_not_of(' ');
  if (start == text.npos) return Json(Json::value_t::discarded);
  const Json number = Json::parse(text.substr(start), nullptr, false);
  return number.is_number() || number.is_boolean() ? number : Json(text.substr(start));
}

}  // namespace

Conditions::Conditions(const ConfigValue& rule, std::string_view key, const std::vector<std::string>& not_conditions)
    : key_(key) {
  if (!rule.is_table())
    throw Error(ErrorKind::usage, rule.origin,
                fmt::format("{}: got {}, expected tables [[{}]]", key_, rule.shown(), key_));
  ConfigValue conditions = rule;
  for (const std::string& name : not_conditions) conditions.table().erase(name);
  collect(conditions, "");
  if (conditions_.empty())
    throw Error(
        ErrorKind::usage, rule.origin,
        fmt::format("{}: a rule without conditions would apply to every run, expected some, like model.mixer = \"rnn\"",
                    key_));
}

void Conditions::collect(const ConfigValue& table, const std::string& path) {
  for (const auto& [key, value] : table.table()) {
    const std::string below = path.empty() ? key : path + "." + key;
    if (value.is_table()) {
      collect(value, below);
      continue;
    }
    Condition condition{.comparison = "=", .values = {}, .origin = value.origin};
    if (value.is_array()) {
      for (const ConfigValue& item : value.array()) condition.values.push_back(config_to_json(item));
    } else if (const auto* text = std::get_if<std::string>(&value.value)) {
      const std::size_t end = text->find_first_not_of("<>=!");
      if (end != 0 && end != text->npos) {
        condition.comparison = text->substr(0, end);
        condition.values.push_back(read_value(std::string_view(*text).substr(end)));
      } else {
        condition.values.emplace_back(*text);
      }
    } else {
      condition.values.push_back(config_to_json(value));
    }
    static const std::vector<std::string> known{"=", "!=", "<", "<=", ">", ">="};
    if (std::find(known.begin(), known.end(), condition.comparison) == known.end() || condition.values.empty() ||
        condition.values.front().is_discarded())
      throw Error(ErrorKind::usage, value.origin,
                  fmt::format("{}: {}: got {}, expected a value, a list, or a comparison like \"> 1e-3\"", key_, below,
                              value.shown()));
    conditions_[below] = std::move(condition);
  }
}

bool Conditions::Condition::holds(const Json& value) const {
  return std::any_of(values.begin(), values.end(), [&](const Json& one) { return compare(value, comparison, one); });
}

std::optional<bool> Conditions::hold(const ConfigValue& point) {
  bool all_written = true;
  bool one_fails = false;
  // Every field is looked up even after a condition has failed: check_used() asks whether any run has it.
  for (auto& [path, condition] : conditions_) {
    if (one_fails && condition.met_field) continue;
    const ConfigValue* value = value_at(point, path);
    if (!value || value->is_table()) {
      all_written = false;
      continue;
    }
    condition.met_field = true;
    one_fails = one_fails || !condition.holds(config_to_json(*value));
  }
  if (one_fails) return false;
  return all_written ? std::optional(true) : std::nullopt;
}

bool Conditions::hold(const Json& config) {
  for (auto& [path, condition] : conditions_) condition.met_field = condition.met_field || has_field(config, path);
  return hold_for(config);
}

bool Conditions::hold_for(const Json& config) const {
  return std::all_of(conditions_.begin(), conditions_.end(), [&](const auto& item) {
    return has_field(config, item.first) && item.second.holds(config.at(pointer_of(item.first)));
  });
}

void Conditions::check_used(const std::vector<std::string>& known) const {
  for (const auto& [path, condition] : conditions_)
    if (!condition.met_field)
      throw Error(ErrorKind::usage, condition.origin,
                  fmt::format("{}: no run of this study has a field '{}'{}", key_, path, suggestion(path, known)));
}

}  // namespace mneme::study
