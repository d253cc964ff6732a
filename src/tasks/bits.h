// Tasks over bits: parity and majority, at the end of the sequence or at each step of it (Zoology's circuits).
#pragma once

#include "tasks/task.h"

namespace mneme::tasks {

TaskEntry parity_entry();
TaskEntry majority_entry();
TaskEntry cumulative_parity_entry();
TaskEntry cumulative_majority_entry();

}  // namespace mneme::tasks
