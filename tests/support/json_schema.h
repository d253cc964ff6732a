// A validator for the part of JSON Schema that Vega-Lite's own schema uses: $ref, anyOf, type, properties, required,
// additionalProperties, items, enum, const and the limits on numbers, lists and objects. Formats are not checked.
#pragma once

#include <algorithm>
#include <string>

#include "core/json.h"

namespace mneme::testing {

class JsonSchema {
 public:
  explicit JsonSchema(Json schema) : root_(std::move(schema)) {}

  // "" if the value is valid, else where and why not.
  std::string trouble(const Json& value) const { return trouble(value, root_, "#"); }

 private:
  static bool has_type(const Json& value, const std::string& type) {
    if (type == "object") return value.is_object();
    if (type == "array") return value.is_array();
    if (type == "string") return value.is_string();
    if (type == "boolean") return value.is_boolean();
    if (type == "null") return value.is_null();
    if (type == "integer") return value.is_number_integer();
    return value.is_number();
  }

  std::string trouble(const Json& value, const Json& schema, const std::string& at) const {
    if (schema.contains("$ref"))
      return trouble(value, root_.at(Json::json_pointer(schema["$ref"].get<std::string>().substr(1))), at);
    if (schema.contains("anyOf")) {
      std::string nearest;
      for (const Json& one : schema["anyOf"]) {
        const std::string wrong = trouble(value, one, at);
        if (wrong.empty()) return "";
        // The alternative that was followed furthest says most.
        if (nearest.empty() || wrong.find(':') > nearest.find(':')) nearest = wrong;
      }
      return nearest;
    }
    if (schema.contains("type")) {
      const Json types = schema["type"].is_array() ? schema["type"] : Json::array({schema["type"]});
      if (std::none_of(types.begin(), types.end(), [&](const Json& type) { return has_type(value, type); }))
        return at + ": got " + value.dump().substr(0, 60) + ", expected type " + types.dump();
    }
    if (schema.contains("const") && value != schema["const"]) return at + ": expected " + schema["const"].dump();
    if (schema.contains("enum") &&
        std::find(schema["enum"].begin(), schema["enum"].end(), value) == schema["enum"].end())
      return at + ": got " + value.dump().substr(0, 60) + ", expected one of " + schema["enum"].dump().substr(0, 200);
    if (value.is_number() && ((schema.contains("minimum") && value < schema["minimum"]) ||
                              (schema.contains("maximum") && value > schema["maximum"])))
      return at + ": " + value.dump() + " is out of limits";
    if (value.is_array()) return list_trouble(value, schema, at);
    return value.is_object() ? object_trouble(value, schema, at) : "";
  }

  std::string list_trouble(const Json& value, const Json& schema, const std::string& at) const {
    if (value.size() < schema.value("minItems", std::size_t{0}) ||
        value.size() > schema.value("maxItems", value.size()))
      return at + ": a list of " + std::to_string(value.size());
    if (schema.contains("items"))
      for (std::size_t i = 0; i < value.size(); ++i)
        if (const auto wrong = trouble(value[i], schema["items"], at + "/" + std::to_string(i)); !wrong.empty())
          return wrong;
    return "";
  }

  std::string object_trouble(const Json& value, const Json& schema, const std::string& at) const {
    for (const Json& name : schema.value("required", Json::array()))
      if (!value.contains(name.get<std::string>())) return at + ": lacks " + name.get<std::string>();
    const Json none = Json::object();
    const Json& known = schema.contains("properties") ? schema["properties"] : none;
    for (const auto& [name, member] : value.items()) {
      const std::string below = at + "/" + name;
      const Json* expected = known.contains(name) ? &known[name] : nullptr;
      if (!expected && schema.contains("additionalProperties")) {
        const Json& others = schema["additionalProperties"];
        if (others.is_boolean() && !others.get<bool>()) return below + ": an unknown property";
        if (others.is_object()) expected = &others;
      }
      if (!expected) continue;
      if (const auto wrong = trouble(member, *expected, below); !wrong.empty()) return wrong;
    }
    return "";
  }

  Json root_;
};

}  // namespace mneme::testing
