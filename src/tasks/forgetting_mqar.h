// forgetting_mqar: recall where some keys are given a new value, which replaces the old one (Zoology).
#pragma once

#include "tasks/task.h"

namespace mneme::tasks {

TaskEntry forgetting_mqar_entry();

}  // namespace mneme::tasks
