#include "tasks/task.h"

#include <fmt/format.h>

#include "core/error.h"
#include "core/text.h"

namespace mneme::tasks {

std::string_view split_name(Split split) {
  switch (split) {
    case Split::train: return "train";
    case Split::validation: return "validation";
    case Split::test: return "test";
  }
  return "";
}

Split parse_split(std::string_view name) {
  for (const Split split : {Split::train, Split::validation, Split::test})
    if (split_name(split) == name) return split;
  throw Error(ErrorKind::usage, "split", fmt::format("got '{}', expected train, validation or test", name));
}

std::string_view role_name(Role role) {
  switch (role) {
    case Role::filler: return "filler";
    case Role::key: return "key";
    case Role::value: return "value";
    case Role::query: return "query";
    case Role::data: return "data";
    case Role::marker: return "marker";
    case Role::answer: return "answer";
    case Role::padding: return "padding";
  }
  return "";
}

Options at_axis_value(const Options& options, const GeneralisationAxis& axis, std::int64_t value) {
  Options moved = options;
  // A mixture (a list) is replaced by the one value.
  const bool is_list = options.values().at(axis.option).is_array();
  moved.set(axis.option, is_list ? Json::array({value}) : Json(value));
  if (axis.follow) axis.follow(moved);
  return moved;
}

const TaskEntry& find_task(std::string_view name, std::string_view origin) {
  std::vector<std::string> known;
  for (const TaskEntry& entry : task_list()) {
    if (entry.name == name) return entry;
    known.push_back(entry.name);
  }
  throw Error(ErrorKind::usage, origin, fmt::format("unknown task '{}'{}", name, suggestion(name, known)));
}

ExampleSource::ExampleSource(const Task& task, std::uint64_t data_seed, Split split)
    : task_(task),
      key_(stream_key(data_seed, fmt::format("data/{}", split_name(split)))),
      training_(split == Split::train) {}

void ExampleSource::write(std::uint64_t index, const ExampleView& out) const {
  Random random(key_, index);
  if (training_)
    task_.generate(random, out);
  else
    task_.generate_evaluation(random, out);
}

Example::Example(const TaskShape& shape) {
  const auto length = static_cast<std::size_t>(shape.length);
  if (shape.is_signal()) {
    signal.resize(length);
    targets.resize(length);
  } else {
    tokens.resize(length);
    labels.resize(length);
  }
}

}  // namespace mneme::tasks
