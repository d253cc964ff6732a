#include "tasks/task.h"

#include <fmt/format.h>

#include "core/error.h"
#include "core/text.h"

namespace mneme {

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

const TaskEntry& find_task(std::string_view name, std::string_view origin) {
  std::vector<std::string> known;
  for (const TaskEntry& entry : task_list()) {
    if (entry.name == name) return entry;
    known.push_back(entry.name);
  }
  throw Error(ErrorKind::usage, origin, fmt::format("unknown task '{}'{}", name, suggestion(name, known)));
}

ExampleSource::ExampleSource(const Task& task, std::uint64_t data_seed, Split split)
    : task_(task), key_(stream_key(data_seed, fmt::format("data/{}", split_name(split)))) {}

void ExampleSource::write(std::uint64_t index, const ExampleView& out) const {
  Random random(key_, index);
  task_.generate(random, out);
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

}  // namespace mneme
