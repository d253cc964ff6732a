// selective_copying: data scattered in long noise, labels in order at markers (Gu and Dao 2023, E.1).
#pragma once

#include "tasks/task.h"

namespace mneme::tasks {

TaskEntry selective_copying_entry();

}  // namespace mneme::tasks
