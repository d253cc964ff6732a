// mqar: multi-query associative recall (Arora et al. 2023, Zoology).
#pragma once

#include "tasks/task.h"

namespace mneme::tasks {

TaskEntry mqar_entry();

}  // namespace mneme::tasks
