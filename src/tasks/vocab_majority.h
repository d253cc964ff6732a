// vocab_majority: the most frequent token of the sequence (Zoology's circuits).
#pragma once

#include "tasks/task.h"

namespace mneme::tasks {

TaskEntry vocab_majority_entry();

}  // namespace mneme::tasks
