#include "core/config.h"

#include <fmt/format.h>

#include <cmath>
#include <stdexcept>

// toml++ 3.3 states with assertions what some inputs ("x = [") do not keep, and compiled with NDEBUG relies on
// them: as exceptions they are one more way of not being TOML.
static constexpr void require_toml(bool holds) {
  if (!holds) throw std::logic_error("a value is missing or incomplete");
}
#undef NDEBUG
#define TOML_ASSERT(holds) require_toml(static_cast<bool>(holds))
#define TOML_EXCEPTIONS 1
#include <toml++/toml.h>

#include "core/error.h"
#include "core/text.h"

namespace mneme {
namespace {

std::string position(std::string_view file, const toml::source_region& region) {
  return fmt::format("{}:{}:{}", file, region.begin.line, region.begin.column);
}

// `origin` replaces line and column when it is given (an override has none of its own).
ConfigValue convert(const toml::node& node, std::string_view file, std::string_view origin) {
  ConfigValue result;
  result.origin = origin.empty() ? position(file, node.source()) : std::string(origin);
  if (const auto* table = node.as_table()) {
    ConfigTable members;
    for (const auto& [key, member] : *table) {
      ConfigValue& child = members[std::string(key.str())] = convert(member, file, origin);
      // A key's own position is where a person looks for it; a table's node may point elsewhere.
      if (origin.empty()) child.origin = position(file, key.source());
    }
    result.value = std::move(members);
  } else if (const auto* array = node.as_array()) {
    ConfigArray items;
    for (const auto& item : *array) items.push_back(convert(item, file, origin));
    result.value = std::move(items);
  } else if (const auto* text = node.as_string()) {
    result.value = text->get();
  } else if (const auto* integer = node.as_integer()) {
    result.value = integer->get();
  } else if (const auto* real = node.as_floating_point()) {
    result.value = real->get();
  } else if (const auto* flag = node.as_boolean()) {
    result.value = flag->get();
  } else {
    throw Error(ErrorKind::usage, result.origin,
                "a date or time, expected a table, list, number, string or true/false");
  }
  return result;
}

}  // namespace

const ConfigValue* ConfigValue::find(std::string_view key) const {
  const auto& members = table();
  const auto found = members.find(key);
  return found == members.end() ? nullptr : &found->second;
}

std::string ConfigValue::type_name() const {
  static constexpr const char* kNames[] = {"a table", "a list", "true/false", "an integer", "a number", "a string"};
  return kNames[value.index()];
}

std::string ConfigValue::shown() const {
  // JSON would show a number that is not finite as null.
  if (const auto* real = std::get_if<double>(&value); real && !std::isfinite(*real)) return fmt::format("{}", *real);
  return shortened(config_to_json(*this).dump(), 60);
}

ConfigValue parse_toml(std::string_view text, std::string_view file_name) {
  try {
    const toml::table table = toml::parse(text, file_name);
    ConfigValue root = convert(table, file_name, {});
    root.origin = std::string(file_name);
    return root;
  } catch (const toml::parse_error& error) {
    throw Error(ErrorKind::usage, position(file_name, error.source()),
                fmt::format("not valid TOML: {}", error.description()));
  } catch (const std::logic_error& error) {
    throw Error(ErrorKind::usage, file_name, fmt::format("not valid TOML: {}", error.what()));
  }
}

ConfigValue load_toml(const Path& path) { return parse_toml(read_file(path), path.string()); }

ConfigValue config_from_json(const Json& json, std::string_view origin) {
  ConfigValue result;
  result.origin = std::string(origin);
  if (json.is_object()) {
    ConfigTable members;
    for (const auto& [key, member] : json.items()) members[key] = config_from_json(member, origin);
    result.value = std::move(members);
  } else if (json.is_array()) {
    ConfigArray items;
    for (const auto& item : json) items.push_back(config_from_json(item, origin));
    result.value = std::move(items);
  } else if (json.is_boolean()) {
    result.value = json.get<bool>();
  } else if (json.is_number_integer()) {
    if (json.is_number_unsigned() && json.get<std::uint64_t>() > INT64_MAX)
      throw Error(ErrorKind::usage, origin, fmt::format("the number {} is too large", json.dump()));
    result.value = json.get<std::int64_t>();
  } else if (json.is_number_float()) {
    result.value = json.get<double>();
  } else if (json.is_string()) {
    result.value = json.get<std::string>();
  } else {
    throw Error(ErrorKind::usage, origin, "null in a configuration, expected a value");
  }
  return result;
}

Json config_to_json(const ConfigValue& value) {
  return std::visit(
      [](const auto& held) -> Json {
        using Held = std::decay_t<decltype(held)>;
        if constexpr (std::is_same_v<Held, ConfigTable>) {
          Json object = Json::object();
          for (const auto& [key, member] : held) object[key] = config_to_json(member);
          return object;
        } else if constexpr (std::is_same_v<Held, ConfigArray>) {
          Json array = Json::array();
          for (const auto& item : held) array.push_back(config_to_json(item));
          return array;
        } else {
          return held;
        }
      },
      value.value);
}

void apply_override(ConfigValue& root, std::string_view assignment) {
  if (!is_utf8(assignment)) throw Error(ErrorKind::usage, "override", "not UTF-8, expected path.to.key=value");
  const std::string origin = fmt::format("override '{}'", assignment);
  const std::size_t equals = assignment.find('=');
  if (equals == assignment.npos || equals == 0)
    throw Error(ErrorKind::usage, origin, "not an override, expected path.to.key=value");
  const std::string_view text = assignment.substr(equals + 1);

  ConfigValue value{std::string(text), origin};
  try {
    // Inside an inline table no comment and no second line can hide a part of the value.
    const toml::table parsed = toml::parse(fmt::format("x = {{ y = {} }}\n", text));
    const toml::table* const inner = parsed.get_as<toml::table>("x");
    if (parsed.size() == 1 && inner->size() == 1) value = convert(*inner->get("y"), {}, origin);
  } catch (const toml::parse_error&) {
    // Not TOML: the plain string.
  } catch (const std::logic_error&) {
    // The same.
  }

  require(root.is_table(), "overrides apply to a table");
  ConfigValue* place = &root;
  const auto parts = split(assignment.substr(0, equals), '.');
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (parts[i].empty()) throw Error(ErrorKind::usage, origin, "an empty key in the path, expected path.to.key=value");
    if (!place->is_table())
      throw Error(ErrorKind::usage, origin,
                  fmt::format("'{}' is {} (at {}), expected a table", parts[i - 1], place->type_name(), place->origin));
    ConfigValue& child = place->table().try_emplace(parts[i], ConfigValue{ConfigTable{}, origin}).first->second;
    place = &child;
  }
  *place = std::move(value);
}

ConfigValue merged(ConfigValue lower, const ConfigValue& upper) {
  if (!lower.is_table() || !upper.is_table()) return upper;
  for (const auto& [key, value] : upper.table()) {
    const auto found = lower.table().find(key);
    if (found == lower.table().end())
      lower.table().emplace(key, value);
    else
      found->second = merged(std::move(found->second), value);
  }
  return lower;
}

}  // namespace mneme
