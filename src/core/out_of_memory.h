// The one way to say that memory ran out.
#pragma once

#include <cstddef>
#include <string_view>

#include "core/error.h"

namespace mneme {

// How such a message begins. The worker writes it, and the executor that reads it does not try that run again.
inline constexpr std::string_view kOutOfMemory = "out of memory";

// "out of memory: no room for 4096 values of 4 bytes", of kind runs_failed: the
// machine is too small for the run, or the run too large.
Error out_of_memory(std::size_t count, std::size_t size);

}  // namespace mneme
