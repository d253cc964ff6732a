#include "catalog/python_class.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.h"

namespace mneme::catalog {
namespace {

constexpr std::string_view kMark = ".py:";
constexpr const char* kNone = "none";

bool may_be_none(const Json& argument) { return argument.value("optional", false); }

// A keyword argument as Python described it. A default that is missing must be given.
Field field_of(const Json& argument) {
  const std::string name = argument.at("name"), type = argument.at("type"), help = argument.value("help", "");
  Json fallback = argument.contains("default") ? argument["default"] : Json();
  if (may_be_none(argument) && argument.contains("default") && fallback.is_null()) fallback = kNone;
  const auto number = [&](Field field) {
    return may_be_none(argument) ? or_word(std::move(field), {kNone}) : std::move(field);
  };
  if (type == "flag") return flag_field(name, fallback, help);
  if (type == "integer") return number(integer_field(name, fallback, -kUnlimited, kUnlimited, help));
  if (type == "real") return number(real_field(name, fallback, -kUnlimited, kUnlimited, help));
  if (type == "text") return text_field(name, fallback, help);
  if (type == "choice") return choice_field(name, fallback, argument.at("choices"), help);
  if (type == "integers") return integers_field(name, fallback, -kUnlimited, kUnlimited, help);
  if (type == "reals") return reals_field(name, fallback, -kUnlimited, kUnlimited, help);
  if (type == "texts") return texts_field(name, fallback, help);
  throw Error(ErrorKind::data, "declaration of a Python mixer", fmt::format("{} has the type '{}'", name, type));
}

bool is_word(std::string_view text) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  return !text.empty() && letter(text.front()) &&
         std::all_of(text.begin(), text.end(), [&](char c) { return letter(c) || digit(c); });
}

}  // namespace

bool is_python_name(std::string_view name) { return name.find(kMark) != name.npos || name.ends_with(".py"); }

PythonName parse_python_name(std::string_view name, std::string_view origin) {
  const std::size_t at = name.rfind(kMark);
  const PythonName parts{Path(name.substr(0, at == name.npos ? name.size() : at + kMark.size() - 1)),
                         at == name.npos ? "" : std::string(name.substr(at + kMark.size()))};
  if (!is_word(parts.class_name))
    throw Error(ErrorKind::usage, origin,
                fmt::format("got '{}', expected FILE.py:Class, a file and the name of a class in it", name));
  return parts;
}

Schema PythonClass::options() const {
  Schema schema;
  for (const Json& argument : declaration.at("arguments")) schema.push_back(field_of(argument));
  schema.push_back(choice_field("init_by", "module", {"module", "model"},
                                "who draws the initial weights: the module itself, or the model (its linear layers "
                                "by the rule of model.init)"));
  schema.push_back(text_field("source", source, "version of the source; a changed source is a different mixer"));
  return schema;
}

bool PythonClass::tells_state() const { return declaration.value("tells_state", declaration.value("has_step", false)); }

Json PythonClass::arguments(const Options& options) const {
  Json result = Json::object();
  for (const Json& argument : declaration.at("arguments")) {
    const std::string key = argument.at("name");
    const Json& value = options.values().at(key);
    result[key] = may_be_none(argument) && value == kNone ? Json() : value;
  }
  return result;
}

}  // namespace mneme::catalog
