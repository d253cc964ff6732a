// state_tracking: the running product of group elements (Merrill et al. 2024).
#pragma once

#include "tasks/task.h"

namespace mneme::tasks {

TaskEntry state_tracking_entry();

}  // namespace mneme::tasks
