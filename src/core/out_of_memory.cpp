#include "core/out_of_memory.h"

#include <fmt/format.h>

namespace mneme {

Error out_of_memory(std::size_t count, std::size_t size) {
  return {ErrorKind::runs_failed, "", fmt::format("{}: no room for {} values of {} bytes", kOutOfMemory, count, size)};
}

}  // namespace mneme
