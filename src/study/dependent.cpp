#include "study/dependent.h"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <set>

#include "config/run_config.h"
#include "core/error.h"
#include "core/text.h"
#include "study/field_kinds.h"

namespace mneme::study {
namespace {

bool is_lookup(const ConfigValue& value) {
  if (!value.is_table()) return false;
  const ConfigValue* by = value.find("by");
  return by && std::holds_alternative<std::string>(by->value);
}

ConfigValue number_value(double number, const std::string& origin) {
  if (number == std::floor(number) && std::abs(number) < 9e15) return {static_cast<std::int64_t>(number), origin};
  return {number, origin};
}

std::optional<double> as_number(const ConfigValue& value) {
  if (const auto* integer = std::get_if<std::int64_t>(&value.value)) return static_cast<double>(*integer);
  if (const auto* real = std::get_if<double>(&value.value)) return *real;
  return std::nullopt;
}

// How a value is written as the key of a lookup table.
std::string key_of(const ConfigValue& value) {
  if (const auto* text = std::get_if<std::string>(&value.value)) return *text;
  return config_to_json(value).dump();
}

class Settler {
 public:
  explicit Settler(ConfigValue& root) : root_(root) { find(root_, ""); }

  void settle_all() {
    for (const auto& [path, place] : open_) settle(path);
  }

 private:
  void find(ConfigValue& table, const std::string& path) {
    for (auto& [key, value] : table.table()) {
      const std::string below = path.empty() ? key : path + "." + key;
      if (may_depend(below, value))
        open_[below] = &value;
      else if (value.is_table())
        find(value, below);
    }
  }

  void settle(const std::string& path) {
    ConfigValue& value = *open_.at(path);
    if (settled_.contains(path)) return;
    if (!under_way_.insert(path).second)
      throw Error(ErrorKind::usage, value.origin, fmt::format("{} depends on itself, expected another name", path));
    if (is_lookup(value)) {
      value = looked_up(path, value);
    } else {
      const std::string text = std::get<std::string>(value.value);
      if (const auto number =
              evaluate_expression(text, value.origin, [&](std::string_view name) { return number_of(name); }))
        value = number_value(*number, value.origin);
    }
    under_way_.erase(path);
    settled_.insert(path);
  }

  ConfigValue looked_up(const std::string& path, const ConfigValue& table) {
    const std::string name = std::get<std::string>(table.find("by")->value);
    const auto value = value_of(name);
    if (!value)
      throw Error(ErrorKind::usage, table.find("by")->origin,
                  fmt::format("{}: unknown name '{}', expected the path of a value, like task.length", path, name));
    const std::string key = key_of(*value);
    const ConfigValue* entry = table.find(key);
    if (!entry) entry = table.find("default");
    if (!entry)
      throw Error(ErrorKind::usage, table.origin,
                  fmt::format("{}: no entry for {} = {}, expected one, or a default", path, name, key));
    return *entry;
  }

  std::optional<double> number_of(std::string_view name) {
    const auto value = value_of(name);
    return value ? as_number(*value) : std::nullopt;
  }

  std::optional<ConfigValue> value_of(std::string_view name) {
    if (name.find('.') != name.npos) return value_at(std::string(name));
    for (const char* section : {"task.", "model.", "train.", "test."})
      if (auto value = value_at(section + std::string(name))) return value;
    return std::nullopt;
  }

  std::optional<ConfigValue> value_at(const std::string& path) {
    if (open_.contains(path)) {
      settle(path);
      return *open_.at(path);
    }
    const ConfigValue* place = &root_;
    for (const std::string& part : split(path, '.')) {
      place = place->is_table() ? place->find(part) : nullptr;
      if (!place) return value_in_defaults(path);
    }
    return place->is_table() ? std::nullopt : std::optional(*place);
  }

  // What is not written has its default, which only the whole configuration knows.
  std::optional<ConfigValue> value_in_defaults(const std::string& path) {
    if (defaults_.is_null()) {
      ConfigValue rest = root_;
      for (const auto& [open, place] : open_)
        if (!settled_.contains(open)) remove(rest, open);
      defaults_ = config::resolve_run(rest).json();
    }
    Json::json_pointer pointer;
    for (const std::string& part : split(path, '.')) pointer /= part;
    if (!defaults_.contains(pointer) || defaults_.at(pointer).is_structured()) return std::nullopt;
    return config_from_json(defaults_.at(pointer), path);
  }

  static void remove(ConfigValue& root, const std::string& path) {
    ConfigValue* place = &root;
    const auto parts = split(path, '.');
    for (std::size_t i = 0; i + 1 < parts.size(); ++i) place = &place->table().at(parts[i]);
    place->table().erase(parts.back());
  }

  ConfigValue& root_;
  std::map<std::string, ConfigValue*> open_;
  std::set<std::string> under_way_, settled_;
  Json defaults_;
};

}  // namespace

bool may_depend(const std::string& path, const ConfigValue& value) {
  if (is_lookup(value)) return true;
  const auto* text = std::get_if<std::string>(&value.value);
  return text && (text->starts_with('=') || is_number_field(path, *text));
}

void settle_dependents(ConfigValue& root) { Settler(root).settle_all(); }

}  // namespace mneme::study
