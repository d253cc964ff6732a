// counting: predict the next step of a signal that is on for a fixed and off for a random time.
#pragma once

#include "tasks/task.h"

namespace mneme::tasks {

TaskEntry counting_entry();

}  // namespace mneme::tasks
