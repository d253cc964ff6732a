// The configurations of many runs in little memory: each field and each value is kept once.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/json.h"

namespace mneme::serve {

class FieldTable {
 public:
  using Field = std::uint32_t;

  // A field is a path to anything that is not an object: "task.length", "train.lr".
  void set(const std::string& run, const Json& config);
  void erase(const std::string& run) { runs_.erase(run); }
  bool has(const std::string& run) const { return runs_.contains(run); }

  std::optional<Field> find(std::string_view name) const;
  const std::string& name(Field field) const { return names_[field]; }
  // Null if the run has no such field.
  const Json& value(const std::string& run, Field field) const;
  const Json& value(const std::string& run, std::string_view name) const;

  // Fields with at least two values among those of the runs that have the field; by name. Seeds that follow from
  // train.seed are left out.
  std::vector<Field> differing(std::span<const std::string> runs) const;
  // The different values of a field among the runs, ascending; null is left out.
  std::vector<Json> values(std::span<const std::string> runs, Field field) const;

 private:
  using Value = std::uint32_t;  // 0: none
  void add_leaves(const Json& object, const std::string& path, std::vector<Value>& row);
  Value value_of(const std::vector<Value>& row, Field field) const { return field < row.size() ? row[field] : 0; }
  bool follows_from_seed(Field field, std::span<const std::string> runs) const;

  std::vector<std::string> names_;
  std::unordered_map<std::string, Field> fields_;
  std::deque<Json> values_ = {Json()};
  std::unordered_map<std::string, Value> known_;  // the value's text
  std::unordered_map<std::string, std::vector<Value>> runs_;
};

}  // namespace mneme::serve
