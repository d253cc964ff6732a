#include "core/schema.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "core/text.h"

namespace mneme {
namespace {

[[noreturn]] void wrong_value(const Field& field, const ConfigValue& value, std::string_view path) {
  throw Error(ErrorKind::usage, value.origin,
              fmt::format("{}.{}: got {}, expected {}", path, field.name, value.shown(), field.expected()));
}

[[noreturn]] void unknown_key(const Schema& schema, const std::vector<std::string>& known, const std::string& key,
                              const std::string& origin, std::string_view path) {
  std::vector<std::string> names;
  for (const Field& field : schema) names.push_back(field.name);
  names.insert(names.end(), known.begin(), known.end());
  throw Error(ErrorKind::usage, origin, fmt::format("{}: unknown key '{}'{}", path, key, suggestion(key, names)));
}

bool has_field(const Schema& schema, const std::string& name) {
  return std::any_of(schema.begin(), schema.end(), [&](const Field& field) { return field.name == name; });
}

bool within(const Field& field, double value) { return value >= field.min && value <= field.max; }

bool is_choice(const Field& field, const std::string* text) {
  return text && std::find(field.choices.begin(), field.choices.end(), *text) != field.choices.end();
}

// The value with the field's type, or a discarded Json if it does not fit.
Json fitted(const Field& field, const ConfigValue& value);

// A list of values, or a single value for a list of one.
Json fitted_list(Field item_field, FieldType item, const ConfigValue& value) {
  item_field.type = item;
  Json list = Json::array();
  const ConfigArray single{value};
  for (const auto& one : value.is_array() ? value.array() : single) {
    list.push_back(fitted(item_field, one));
    if (list.back().is_discarded()) return list.back();
  }
  return list;
}

Json fitted(const Field& field, const ConfigValue& value) {
  const auto* integer = std::get_if<std::int64_t>(&value.value);
  const auto* real = std::get_if<double>(&value.value);
  const auto* text = std::get_if<std::string>(&value.value);
  const Json misfit(Json::value_t::discarded);
  switch (field.type) {
    case FieldType::flag:
      if (const auto* flag = std::get_if<bool>(&value.value)) return *flag;
      return misfit;
    case FieldType::integer:
      if (is_choice(field, text)) return *text;
      // 1e3 is a whole number, however it is written; above 2^53 not every one has a double.
      if (real && *real == std::floor(*real) && std::abs(*real) <= 9007199254740992.0 && within(field, *real))
        return static_cast<std::int64_t>(*real);
      return integer && within(field, static_cast<double>(*integer)) ? Json(*integer) : misfit;
    case FieldType::real: {
      if (is_choice(field, text)) return *text;
      if (!integer && !real) return misfit;
      const double number = integer ? static_cast<double>(*integer) : *real;
      return std::isfinite(number) && within(field, number) ? Json(number) : misfit;
    }
    case FieldType::text: return text ? Json(*text) : misfit;
    case FieldType::choice: return is_choice(field, text) ? Json(*text) : misfit;
    case FieldType::integers: {
      const Json list = fitted_list(field, FieldType::integer, value);
      // None of them is a value only where none is the default.
      return list.empty() && field.fallback != Json::array() ? misfit : list;
    }
    case FieldType::reals: return fitted_list(field, FieldType::real, value);
    case FieldType::texts: return fitted_list(field, FieldType::text, value);
  }
  return misfit;
}

std::string limits(const Field& field) {
  const bool lower = std::isfinite(field.min), upper = std::isfinite(field.max);
  if (lower && upper) return fmt::format(" from {} to {}", field.min, field.max);
  if (lower) return fmt::format(" >= {}", field.min);
  if (upper) return fmt::format(" <= {}", field.max);
  return "";
}

std::string words(const Field& field) { return field.choices.empty() ? "" : " or " + join(field.choices, " or "); }

}  // namespace

std::string Field::expected() const {
  switch (type) {
    case FieldType::flag: return "true or false";
    case FieldType::integer: return "an integer" + limits(*this) + words(*this);
    case FieldType::real: return "a number" + limits(*this) + words(*this);
    case FieldType::text: return "a string";
    case FieldType::choice: return "one of " + join(choices, ", ");
    case FieldType::integers: return "an integer" + limits(*this) + " or a list of them";
    case FieldType::reals: return "a number" + limits(*this) + " or a list of them";
    case FieldType::texts: return "a string or a list of them";
  }
  return "";
}

Field flag_field(std::string name, Json fallback, std::string help) {
  return {.name = std::move(name), .type = FieldType::flag, .fallback = std::move(fallback), .help = std::move(help)};
}

Field integer_field(std::string name, Json fallback, double min, double max, std::string help) {
  return {.name = std::move(name),
          .type = FieldType::integer,
          .fallback = std::move(fallback),
          .help = std::move(help),
          .min = min,
          .max = max};
}

Field real_field(std::string name, Json fallback, double min, double max, std::string help) {
  if (fallback.is_number()) fallback = fallback.get<double>();
  return {.name = std::move(name),
          .type = FieldType::real,
          .fallback = std::move(fallback),
          .help = std::move(help),
          .min = min,
          .max = max};
}

Field text_field(std::string name, Json fallback, std::string help) {
  return {.name = std::move(name), .type = FieldType::text, .fallback = std::move(fallback), .help = std::move(help)};
}

Field choice_field(std::string name, Json fallback, std::vector<std::string> choices, std::string help) {
  return {.name = std::move(name),
          .type = FieldType::choice,
          .fallback = std::move(fallback),
          .help = std::move(help),
          .choices = std::move(choices)};
}

Field or_word(Field number, std::vector<std::string> words) {
  number.choices = std::move(words);
  return number;
}

Field integers_field(std::string name, Json fallback, double min, double max, std::string help) {
  if (fallback.is_number()) fallback = Json::array({fallback});
  return {.name = std::move(name),
          .type = FieldType::integers,
          .fallback = std::move(fallback),
          .help = std::move(help),
          .min = min,
          .max = max};
}

Field reals_field(std::string name, Json fallback, double min, double max, std::string help) {
  return {.name = std::move(name),
          .type = FieldType::reals,
          .fallback = std::move(fallback),
          .help = std::move(help),
          .min = min,
          .max = max};
}

Field texts_field(std::string name, Json fallback, std::string help) {
  return {.name = std::move(name), .type = FieldType::texts, .fallback = std::move(fallback), .help = std::move(help)};
}

std::vector<std::int64_t> Options::integers(std::string_view name) const {
  return at(name).get<std::vector<std::int64_t>>();
}

std::vector<double> Options::reals(std::string_view name) const { return at(name).get<std::vector<double>>(); }

std::vector<std::string> Options::texts(std::string_view name) const {
  return at(name).get<std::vector<std::string>>();
}

const Json& Options::at(std::string_view name) const {
  const auto found = values_->find(name);
  // The message is built only when it is needed: options are read all the time.
  if (found == values_->end())
    require(false, fmt::format("option {}.{} is read but is not in the schema", path_, name));
  return *found;
}

void Options::set(std::string_view name, Json value) {
  if (values_.use_count() > 1) values_ = std::make_shared<Json>(*values_);
  (*values_)[name] = std::move(value);
}

void Options::reject(std::string_view name, std::string_view what) const {
  const auto origin = origins_->find(name);
  throw Error(ErrorKind::usage, origin == origins_->end() ? path_ : origin->second,
              fmt::format("{}.{}: got {}, expected {}", path_, name, at(name).dump(), what));
}

Options resolve(const Schema& schema, const ConfigValue* table, std::string_view path,
                const std::vector<std::string>& also_known) {
  if (table && !table->is_table())
    throw Error(ErrorKind::usage, table->origin, fmt::format("{}: got {}, expected a table", path, table->shown()));
  if (table)
    for (const auto& [key, value] : table->table())
      if (!has_field(schema, key) && std::find(also_known.begin(), also_known.end(), key) == also_known.end())
        unknown_key(schema, also_known, key, value.origin, path);

  Json values = Json::object();
  Origins origins;
  for (const Field& field : schema) {
    const ConfigValue* value = table ? table->find(field.name) : nullptr;
    if (value) {
      Json checked = fitted(field, *value);
      if (checked.is_discarded()) wrong_value(field, *value, path);
      values[field.name] = std::move(checked);
      origins[field.name] = value->origin;
    } else if (!field.fallback.is_null()) {
      values[field.name] = field.fallback;
    } else {
      throw Error(ErrorKind::usage, table ? table->origin : std::string(path),
                  fmt::format("{}: missing key '{}', expected {}", path, field.name, field.expected()));
    }
  }
  return Options(std::string(path), std::move(values), std::move(origins));
}

Options defaults(const Schema& schema, std::string_view path) { return resolve(schema, nullptr, path); }

}  // namespace mneme
