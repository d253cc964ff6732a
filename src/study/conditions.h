// Conditions on the fields of a run: which points [[exclude]] takes out of a grid, which runs a [[paper]] value is
// about.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/config.h"
#include "core/json.h"

namespace mneme::study {

// They hold if every one does. A condition on a path is a value, a list (any of its values), or a comparison:
// "> 1e-3", "<= 64", "!= attention". A run that has no such field does not meet the condition.
class Conditions {
 public:
  // `key` names the table in messages; its keys in `not_conditions` are passed over. Throws Error(usage) for a
  // table without conditions or one that cannot be read.
  Conditions(const ConfigValue& rule, std::string_view key, const std::vector<std::string>& not_conditions = {});

  // What the written values alone say; nothing if a condition is on a field that has its default.
  std::optional<bool> hold(const ConfigValue& point);
  // What the complete configuration says.
  bool hold(const Json& config);
  // The same, without recording which fields were seen.
  bool hold_for(const Json& config) const;

  // Throws Error(usage) if no point that hold() was asked about had the field of a condition. `known` are the paths
  // of one run.
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

  std::string key_;
  std::map<std::string, Condition> conditions_;
};

}  // namespace mneme::study
