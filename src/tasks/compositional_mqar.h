// compositional_mqar: recall by a pair of keys, over a full grid of both (Zoology).
#pragma once

#include "tasks/task.h"

namespace mneme::tasks {

TaskEntry compositional_mqar_entry();

}  // namespace mneme::tasks
