#include "core/shortage.h"

#include <fmt/format.h>

#include <new>

namespace mneme {

std::string_view shortage_name(Shortage shortage) {
  switch (shortage) {
    case Shortage::none: return "";
    case Shortage::memory: return "memory";
    case Shortage::disk: return "disk";
  }
  return "";
}

Shortage shortage_named(std::string_view name) {
  for (const Shortage shortage : {Shortage::memory, Shortage::disk})
    if (shortage_name(shortage) == name) return shortage;
  return Shortage::none;
}

Shortage shortage_of(const std::exception& error) {
  if (const auto* ours = dynamic_cast<const ShortageError*>(&error)) return ours->shortage();
  return dynamic_cast<const std::bad_alloc*>(&error) ? Shortage::memory : Shortage::none;
}

ShortageError out_of_memory(std::size_t count, std::size_t size) {
  return {Shortage::memory, ErrorKind::runs_failed, "",
          fmt::format("{}: no room for {} values of {} bytes", kOutOfMemory, count, size)};
}

}  // namespace mneme
