// Rules that take points out of a study's grid.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/config.h"
#include "core/json.h"

namespace mneme {

// A point is excluded if every condition holds. A condition on a path is a value, a list (any of its values), or a
// comparison: "> 1e-3", "<= 64", "!= attention". A run that has no such field does not meet the condition.
class Exclusion {
 public:
  // Throws Error(usage) for a rule without conditions or one that cannot be read.
  explicit Exclusion(const ConfigValue& rule);

  // What the written values alone say; nothing if a condition is on a field that has its default.
  std::optional<bool> excludes(const ConfigValue& point);
  // What the complete configuration says.
  bool excludes(const Json& config);

  // Throws Error(usage) if no point that was asked about had the field of a condition. `known` are the paths of one
  // run.
  void check_used(const std::vector<std::string>& known) const;

 private:
  struct Condition {
    std::string comparison;  // =, !=, <, <=, >, >=
    std::vector<Json> values;
    std::string origin;
    bool met_field = false;

    bool holds(const Json& value) const;
  };
  void collect(const ConfigValue& table, const std::string& path);

  std::map<std::string, Condition> conditions_;
};

}  // namespace mneme
