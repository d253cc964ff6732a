#include "study/field_kinds.h"

#include <algorithm>
#include <map>

#include "catalog/python_mixer.h"
#include "config/run_config.h"

namespace mneme::study {
namespace {

using FieldsByPath = std::multimap<std::string, const Field*>;

void note(const Schema& schema, const std::string& path, FieldsByPath& fields) {
  for (const Field& field : schema) fields.emplace(path + "." + field.name, &field);
}

const FieldsByPath& all_fields() {
  static const FieldsByPath fields = [] {
    FieldsByPath found;
    for (const tasks::TaskEntry& task : tasks::task_list()) note(task.options, "task", found);
    note(config::model_schema(), "model", found);
    note(config::train_schema(), "train", found);
    note(config::test_schema(), "test", found);
    for (const auto* catalog : {&catalog::mixer_catalog(), &catalog::state_mixer_catalog()})
      for (const catalog::MixerEntry& mixer : *catalog) note(mixer.options, "model." + mixer.name, found);
    return found;
  }();
  return fields;
}

template <typename Condition>
bool any_field(const std::string& path, Condition condition) {
  const auto [first, last] = all_fields().equal_range(path);
  if (std::any_of(first, last, [&](const auto& item) { return condition(*item.second); })) return true;
  for (const catalog::MixerEntry* mixer : catalog::python_mixers())
    for (const Field& field : mixer->options)
      if (path == "model." + mixer->table() + "." + field.name && condition(field)) return true;
  return false;
}

}  // namespace

bool is_list_field(const std::string& path) {
  return any_field(path, [](const Field& field) {
    return field.type == FieldType::integers || field.type == FieldType::reals || field.type == FieldType::texts;
  });
}

bool is_number_field(const std::string& path, const std::string& word) {
  return any_field(path, [&](const Field& field) {
    const bool number = field.type == FieldType::integer || field.type == FieldType::real;
    return number && std::find(field.choices.begin(), field.choices.end(), word) == field.choices.end();
  });
}

}  // namespace mneme::study
