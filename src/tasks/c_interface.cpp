#include "tasks/c_interface.h"

#include <string>

#include "core/error.h"
#include "core/random.h"
#include "tasks/task.h"

using mneme::tasks::Task;
using mneme::tasks::TaskShape;

struct mneme_task {
  std::unique_ptr<Task> task;
  TaskShape shape;
  std::string options;
};

namespace {

thread_local std::string last_error;

// Nothing may leave through a C function but its result.
template <typename Work, typename Result>
Result guarded(Work work, Result otherwise) try {
  last_error.clear();
  return work();
} catch (const std::exception& error) {
  last_error = error.what();
  return otherwise;
}

}  // namespace

extern "C" {

const char* mneme_task_names() {
  static const std::string names = [] {
    std::string text;
    for (const mneme::tasks::TaskEntry& entry : mneme::tasks::task_list()) text += entry.name + "\n";
    return text;
  }();
  return names.c_str();
}

mneme_task* mneme_task_open(const char* name, const char* options_json) {
  return guarded(
      [&] {
        const mneme::tasks::TaskEntry& entry = mneme::tasks::find_task(name, "task");
        const mneme::ConfigValue table =
            mneme::config_from_json(mneme::parse_json(options_json, "options"), "options of the task");
        const mneme::Options options = mneme::resolve(entry.options, &table, "task");
        auto opened = std::make_unique<mneme_task>();
        opened->task = entry.build(options);
        opened->shape = opened->task->shape();
        opened->options = options.values().dump();
        return opened.release();
      },
      static_cast<mneme_task*>(nullptr));
}

void mneme_task_close(mneme_task* task) { delete task; }
const char* mneme_task_error() { return last_error.c_str(); }
std::int64_t mneme_task_length(const mneme_task* task) { return task->shape.length; }
std::int64_t mneme_task_vocab(const mneme_task* task) { return task->shape.vocab; }
std::int64_t mneme_task_classes(const mneme_task* task) { return task->shape.classes; }
double mneme_task_chance(const mneme_task* task) { return task->task->chance(); }
const char* mneme_task_options(const mneme_task* task) { return task->options.c_str(); }

int mneme_task_write(const mneme_task* task, std::uint64_t data_seed, const char* split, std::uint64_t first,
                     std::uint64_t count, void* inputs, void* answers) {
  return guarded(
      [&] {
        const mneme::tasks::ExampleSource source(*task->task, data_seed, mneme::tasks::parse_split(split));
        const auto length = static_cast<std::size_t>(task->shape.length);
        for (std::uint64_t i = 0; i < count; ++i) {
          mneme::tasks::ExampleView row{};
          const std::size_t at = static_cast<std::size_t>(i) * length;
          if (task->shape.is_signal()) {
            row.signal = {static_cast<float*>(inputs) + at, length};
            row.targets = {static_cast<float*>(answers) + at, length};
          } else {
            row.tokens = {static_cast<std::int32_t*>(inputs) + at, length};
            row.labels = {static_cast<std::int32_t*>(answers) + at, length};
          }
          source.write(first + i, row);
        }
        return 0;
      },
      1);
}

std::uint64_t mneme_derived_data_seed(std::uint64_t seed) { return mneme::derived_seed(seed, "data"); }

}  // extern "C"
