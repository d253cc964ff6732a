// Telling a death for lack of memory from other deaths.
#pragma once

#include <cstdint>
#include <string_view>

namespace mneme::run {

// How a worker's message begins when it could not get memory.
inline constexpr std::string_view kOutOfMemory = "out of memory";

// How many processes the kernel has killed for lack of memory since the machine started (or this container, where
// that is known). Only differences mean anything.
std::int64_t kernel_kill_count();

}  // namespace mneme::run
