// copying and denoising: remember a pattern over a stretch of blanks, then write it down.
#pragma once

#include "tasks/task.h"

namespace mneme::tasks {

// The pattern is contiguous, at the start (Hochreiter and Schmidhuber 1997; Arjovsky et al. 2016).
TaskEntry copying_entry();
// The pattern is scattered among the blanks (also called selective copying).
TaskEntry denoising_entry();

}  // namespace mneme::tasks
