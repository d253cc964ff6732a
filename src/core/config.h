// Configuration as a tree of values that remember where they were written.
//
// A tree comes from a TOML file, from JSON (a worker's request, a stored config) or is empty; then
// `a.b=value` overrides are laid over it. Nothing is interpreted here: core/schema.h checks a tree
// against what is allowed, and its messages name the origin kept in each value.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/files.h"
#include "core/json.h"

namespace mneme {

struct ConfigValue;
using ConfigArray = std::vector<ConfigValue>;
using ConfigTable = std::map<std::string, ConfigValue, std::less<>>;

struct ConfigValue {
  std::variant<ConfigTable, ConfigArray, bool, std::int64_t, double, std::string> value;
  std::string origin;  // "study.toml:3:10" or "override 'train.lr=1'" or "" for an empty tree

  bool operator==(const ConfigValue&) const = default;

  bool is_table() const { return std::holds_alternative<ConfigTable>(value); }
  bool is_array() const { return std::holds_alternative<ConfigArray>(value); }
  const ConfigTable& table() const { return std::get<ConfigTable>(value); }
  ConfigTable& table() { return std::get<ConfigTable>(value); }
  const ConfigArray& array() const { return std::get<ConfigArray>(value); }

  // The member of a table, or nullptr.
  const ConfigValue* find(std::string_view key) const;

  // "a table", "an integer", ...: for messages.
  std::string type_name() const;
  // The value as it would be written in TOML, shortened for messages.
  std::string shown() const;
};

// Throws Error(usage) with file, line and column on a syntax error.
ConfigValue parse_toml(std::string_view text, std::string_view file_name);
ConfigValue load_toml(const Path& path);

// Every value gets the same origin.
ConfigValue config_from_json(const Json& json, std::string_view origin);
Json config_to_json(const ConfigValue& value);

// Lays `a.b.c=value` over the tree. The value is read as TOML; what is not TOML is a plain string, so
// that `model.mixer=mamba` needs no quotes. Throws Error(usage) if there is no '=' or a part of the
// path is already a plain value.
void apply_override(ConfigValue& root, std::string_view assignment);

// Lays `upper` over `lower`: tables are merged key by key, everything else is replaced.
ConfigValue merged(ConfigValue lower, const ConfigValue& upper);

}  // namespace mneme
