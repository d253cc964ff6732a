#include "study/run_filters.h"

#include <fmt/format.h>

#include <algorithm>

#include "catalog/python_class.h"
#include "config/run_config.h"
#include "core/error.h"
#include "core/text.h"

namespace mneme::study {
namespace {

std::vector<std::string> mixer_names() {
  std::vector<std::string> names;
  for (const catalog::MixerEntry& entry : catalog::mixer_catalog()) names.push_back(entry.name);
  return names;
}

// Tables of options in [model]: those of mixers along the sequence and along the channels.
std::vector<catalog::MixerEntry> tables() {
  std::vector<catalog::MixerEntry> all = catalog::mixer_catalog();
  all.insert(all.end(), catalog::state_mixer_catalog().begin(), catalog::state_mixer_catalog().end());
  return all;
}

std::vector<std::string> task_names() {
  std::vector<std::string> names;
  for (const tasks::TaskEntry& entry : tasks::task_list()) names.push_back(entry.name);
  return names;
}

void require_known(std::string_view what, const std::string& name, const std::vector<std::string>& known) {
  if (std::find(known.begin(), known.end(), name) == known.end())
    throw Error(ErrorKind::usage, "filter", fmt::format("unknown {} '{}'{}", what, name, suggestion(name, known)));
}

// Every option that a path into the configuration can mean; those of one name may differ between tasks.
std::vector<Field> fields_in(std::string_view section) {
  std::vector<Field> fields;
  const auto add = [&](const Schema& schema) { fields.insert(fields.end(), schema.begin(), schema.end()); };
  if (section == "train") add(config::train_schema());
  if (section == "test") add(config::test_schema());
  if (section == "model") add(config::model_schema());
  if (section == "task") {
    fields.push_back(text_field("name", nullptr, ""));
    for (const tasks::TaskEntry& entry : tasks::task_list()) add(entry.options);
  }
  for (const catalog::MixerEntry& entry : tables())
    if (section == "model." + entry.name) add(entry.options);
  return fields;
}

// Options of a Python mixer, whose classes no list knows; the catalog's names have small letters only.
bool is_of_python(const std::string& section) {
  return section.starts_with("model.") &&
         std::any_of(section.begin(), section.end(), [](char letter) { return letter >= 'A' && letter <= 'Z'; });
}

// The options that the path names: "task.length" has one for each task with a length.
std::vector<Field> fields_at(const std::string& path) {
  const std::size_t dot = path.rfind('.');
  const std::string section = path.substr(0, dot), name = path.substr(dot + 1);
  if (is_of_python(section)) return {};
  if (section.starts_with("model.")) {
    std::vector<std::string> names;
    for (const catalog::MixerEntry& entry : tables()) names.push_back(entry.name);
    require_known("mixer", section.substr(6), names);
  }
  std::vector<Field> named;
  std::vector<std::string> known;
  for (const Field& field : fields_in(section)) {
    if (field.name == name) named.push_back(field);
    if (std::find(known.begin(), known.end(), field.name) == known.end()) known.push_back(field.name);
  }
  if (named.empty())
    throw Error(ErrorKind::usage, "filter",
                fmt::format("unknown option '{}' in {}{}", name, section, suggestion(name, known)));
  return named;
}

bool takes_words(const Field& field) {
  return field.type == FieldType::text || field.type == FieldType::texts || field.type == FieldType::choice ||
         !field.choices.empty();
}

void check_word(const std::string& path, const std::vector<Field>& fields, const std::string& word) {
  std::vector<std::string> choices;
  for (const Field& field : fields) {
    // Any text will do.
    if (takes_words(field) && field.choices.empty()) return;
    choices.insert(choices.end(), field.choices.begin(), field.choices.end());
  }
  if (choices.empty())
    throw Error(ErrorKind::usage, "filter", fmt::format("{}: got '{}', expected a number", path, word));
  if (std::find(choices.begin(), choices.end(), word) == choices.end())
    throw Error(ErrorKind::usage, "filter", fmt::format("{}: got '{}'{}", path, word, suggestion(word, choices)));
}

}  // namespace

store::RunKey parse_key(std::string_view name) {
  store::RunKey key = store::parse_run_key(name);
  if (!key.path.empty()) fields_at(key.name);
  return key;
}

store::RunFilter parse_filter(std::string_view text) {
  store::RunFilter filter = store::parse_run_filter(text);
  std::vector<std::string> words;
  for (const auto& value : filter.values)
    if (const auto* word = std::get_if<std::string>(&value)) words.push_back(*word);
  const bool task = filter.key.column == "task" || filter.key.name == "task.name";
  const bool mixer = filter.key.column == "mixer" || filter.key.name == "model.mixer";
  std::vector<Field> fields;
  if (!filter.key.path.empty()) fields = fields_at(filter.key.name);
  for (const std::string& word : words) {
    if (task) require_known("task", word, task_names());
    if (mixer)
      for (const std::string& part : split(word, '+'))
        if (!catalog::is_python_name(part)) require_known("mixer", part, mixer_names());
    if (!task && !mixer && !fields.empty()) check_word(filter.key.name, fields, word);
  }
  return filter;
}

}  // namespace mneme::study
