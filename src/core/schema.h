// What keys a table may have, and the checked table that comes out.
//
// Tasks, mixers, models and the trainer each declare their options as a Schema: one list that reads
// configurations, prints help and appears in `mneme show`. resolve() is strict: an unknown key, a
// missing one, a wrong type or a value out of limits is an Error(usage) that names where it was
// written, what was expected and, for a misspelling, the nearest known key.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/config.h"
#include "core/json.h"

namespace mneme {

enum class FieldType { flag, integer, real, text, choice, integers, reals, texts };

struct Field {
  std::string name;
  FieldType type = FieldType::text;
  Json fallback;  // null: the key must be given
  std::string help;
  double min = -std::numeric_limits<double>::infinity();
  double max = std::numeric_limits<double>::infinity();
  std::vector<std::string> choices = {};  // of a choice; of a number: words allowed in its place

  std::string expected() const;  // "an integer >= 1", "one of split, shared"
};

using Schema = std::vector<Field>;

Field flag_field(std::string name, Json fallback, std::string help);
Field integer_field(std::string name, Json fallback, double min, double max, std::string help);
// Numbers are kept as doubles, also a whole fallback: 1 and 1.0 are one configuration.
Field real_field(std::string name, Json fallback, double min, double max, std::string help);
Field text_field(std::string name, Json fallback, std::string help);
Field choice_field(std::string name, Json fallback, std::vector<std::string> choices, std::string help);
// A number field that also takes these words ("auto"), kept as text: ask Options::is_word before reading.
Field or_word(Field number, std::vector<std::string> words);
// A number or a list of numbers; always kept as a list.
Field integers_field(std::string name, Json fallback, double min, double max, std::string help);
// The same of numbers and of strings; these may be empty.
Field reals_field(std::string name, Json fallback, double min, double max, std::string help);
Field texts_field(std::string name, Json fallback, std::string help);

inline constexpr double kUnlimited = std::numeric_limits<double>::infinity();

// Where each field was written, by its name.
using Origins = std::map<std::string, std::string, std::less<>>;

// A table that has passed its schema: every field is there, with its right type. Copies share their values until one of
// them is set.
class Options {
 public:
  Options() : Options("", Json::object(), {}) {}
  Options(std::string path, Json values, Origins origins)
      : path_(std::move(path)),
        values_(std::make_shared<Json>(std::move(values))),
        origins_(std::make_shared<const Origins>(std::move(origins))) {}

  bool flag(std::string_view name) const { return at(name).get<bool>(); }
  std::int64_t integer(std::string_view name) const { return at(name).get<std::int64_t>(); }
  double real(std::string_view name) const { return at(name).get<double>(); }
  std::string text(std::string_view name) const { return at(name).get<std::string>(); }
  std::vector<std::int64_t> integers(std::string_view name) const;
  std::vector<double> reals(std::string_view name) const;
  std::vector<std::string> texts(std::string_view name) const;
  // True if an or_word field holds one of its words instead of a number.
  bool is_word(std::string_view name) const { return at(name).is_string(); }

  const Json& values() const { return *values_; }
  const std::string& path() const { return path_; }

  // For values that are derived from others after checking (a length taken from the task, say).
  void set(std::string_view name, Json value);

  // Reports that a field's value cannot be used together with others.
  [[noreturn]] void reject(std::string_view name, std::string_view what) const;

 private:
  const Json& at(std::string_view name) const;

  std::string path_;
  std::shared_ptr<Json> values_;
  std::shared_ptr<const Origins> origins_;
};

// Checks `table` (nullptr: empty) against the schema. `path` ("task", "model.attention") is for
// messages. Keys in `also_known` are passed over: the caller reads them itself.
Options resolve(const Schema& schema, const ConfigValue* table, std::string_view path,
                const std::vector<std::string>& also_known = {});

// The options with every field at its default; for schemas without required fields.
Options defaults(const Schema& schema, std::string_view path);

}  // namespace mneme
