// An exception as the people who started the run should see it.
#pragma once

#include <exception>
#include <string>

#include "core/error.h"

namespace mneme::worker {

struct Failure {
  ErrorKind kind = ErrorKind::internal;
  std::string message;  // one line
};

// Too little memory is a failure of the run (kind runs_failed, a message that begins with "out of memory"): the machine
// is too small for it, or the run too large. libtorch's errors come without their pages of addresses.
Failure failure_of(const std::exception& error);

}  // namespace mneme::worker
