// Failures because memory or disk space ran out.
//
// They are handled differently: a run that got no memory is not tried again, a full disk stops a sweep. They are told
// apart by their type here and by shortage_name() in events of the worker, never by the words of a message.
#pragma once

#include <cstddef>
#include <exception>
#include <string_view>

#include "core/error.h"

namespace mneme {

enum class Shortage { none, memory, disk };

// "", "memory", "disk"; of any other name: none.
std::string_view shortage_name(Shortage shortage);
Shortage shortage_named(std::string_view name);

class ShortageError : public Error {
 public:
  ShortageError(Shortage shortage, ErrorKind kind, std::string_view where, std::string_view what)
      : Error(kind, where, what), shortage_(shortage) {}

  Shortage shortage() const { return shortage_; }

 private:
  Shortage shortage_;
};

// What ran out; none if the error has another cause. std::bad_alloc is a lack of memory.
Shortage shortage_of(const std::exception& error);

// How messages about memory begin.
inline constexpr std::string_view kOutOfMemory = "out of memory";

// "out of memory: no room for 4096 values of 4 bytes", of kind runs_failed: the
// machine is too small for the run, or the run too large.
ShortageError out_of_memory(std::size_t count, std::size_t size);

}  // namespace mneme
