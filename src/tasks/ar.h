// ar: associative recall with one question at the end.
#pragma once

#include "tasks/task.h"

namespace mneme::tasks {

TaskEntry ar_entry();

}  // namespace mneme::tasks
