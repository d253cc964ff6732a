#include "tasks/mqar.h"
#include "tasks/task.h"

namespace mneme {

const std::vector<TaskEntry>& task_list() {
  static const std::vector<TaskEntry> list = {
      mqar_entry(),
  };
  return list;
}

}  // namespace mneme
