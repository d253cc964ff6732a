// induction: what followed the special token the last time (Olsson et al. 2022; Gu and Dao 2023).
#pragma once

#include "tasks/task.h"

namespace mneme::tasks {

TaskEntry induction_entry();

}  // namespace mneme::tasks
