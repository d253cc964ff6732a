// Telling a death for lack of memory from other deaths.
#pragma once

#include <cstdint>

namespace mneme::run {

// How many processes the kernel has killed for lack of memory since the machine started (or this container, where
// that is known). Only differences mean anything.
std::int64_t kernel_kill_count();

}  // namespace mneme::run
