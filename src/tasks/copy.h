// copy: repeat a string, or what follows an n-gram of it (Jelassi et al. 2024, Repeat After Me).
#pragma once

#include "tasks/task.h"

namespace mneme::tasks {

TaskEntry copy_entry();
// The label that ends each answer.
std::int32_t copy_stop_label(const Options& options);

}  // namespace mneme::tasks
