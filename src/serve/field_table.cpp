#include "serve/field_table.h"

#include <algorithm>
#include <map>
#include <set>

namespace mneme::serve {

void FieldTable::add_leaves(const Json& object, const std::string& path, std::vector<Value>& row) {
  for (const auto& [key, value] : object.items()) {
    const std::string name = path.empty() ? key : path + "." + key;
    if (value.is_object()) {
      add_leaves(value, name, row);
      continue;
    }
    const auto [field, fresh] = fields_.try_emplace(name, static_cast<Field>(names_.size()));
    if (fresh) names_.push_back(name);
    const auto [known, unknown] =
        known_.try_emplace(value.dump(-1, ' ', false, Json::error_handler_t::replace), values_.size());
    if (unknown) values_.push_back(value);
    if (row.size() <= field->second) row.resize(field->second + 1, 0);
    row[field->second] = known->second;
  }
}

void FieldTable::set(const std::string& run, const Json& config) {
  std::vector<Value> row;
  row.reserve(names_.size());
  add_leaves(config, "", row);
  runs_[run] = std::move(row);
}

std::optional<FieldTable::Field> FieldTable::find(std::string_view name) const {
  const auto found = fields_.find(std::string(name));
  if (found == fields_.end()) return std::nullopt;
  return found->second;
}

const Json& FieldTable::value(const std::string& run, Field field) const {
  const auto found = runs_.find(run);
  return values_[found == runs_.end() ? 0 : value_of(found->second, field)];
}

const Json& FieldTable::value(const std::string& run, std::string_view name) const {
  const auto field = find(name);
  return field ? value(run, *field) : values_[0];
}

bool FieldTable::follows_from_seed(Field field, std::span<const std::string> runs) const {
  const std::string& name = names_[field];
  const auto seed = find("train.seed");
  if (!seed || !name.starts_with("train.") || !name.ends_with("_seed")) return false;
  std::map<Value, Value> implied;
  for (const std::string& run : runs) {
    const auto found = runs_.find(run);
    if (found == runs_.end()) continue;
    const Value given = value_of(found->second, field);
    if (implied.try_emplace(value_of(found->second, *seed), given).first->second != given) return false;
  }
  return true;
}

std::vector<FieldTable::Field> FieldTable::differing(std::span<const std::string> runs) const {
  std::vector<Value> first(names_.size(), 0);
  std::vector<bool> differs(names_.size(), false);
  for (const std::string& run : runs) {
    const auto found = runs_.find(run);
    if (found == runs_.end()) continue;
    const std::vector<Value>& row = found->second;
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (row[i] == 0) continue;
      if (first[i] == 0) first[i] = row[i];
      if (first[i] != row[i]) differs[i] = true;
    }
  }
  std::vector<Field> fields;
  for (Field i = 0; i < differs.size(); ++i)
    if (differs[i] && !follows_from_seed(i, runs)) fields.push_back(i);
  std::sort(fields.begin(), fields.end(), [&](Field a, Field b) { return names_[a] < names_[b]; });
  return fields;
}

std::vector<Json> FieldTable::values(std::span<const std::string> runs, Field field) const {
  std::set<Value> met;
  for (const std::string& run : runs)
    if (const auto found = runs_.find(run); found != runs_.end())
      if (const Value value = value_of(found->second, field)) met.insert(value);
  std::vector<Json> values;
  for (const Value value : met) values.push_back(values_[value]);
  std::sort(values.begin(), values.end());
  return values;
}

}  // namespace mneme::serve
