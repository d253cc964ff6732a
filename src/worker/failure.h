// An exception as the user who started the run should see it.
#pragma once

#include <exception>
#include <string>

#include "core/json.h"
#include "core/shortage.h"

namespace mneme::worker {

struct Failure {
  ErrorKind kind = ErrorKind::internal;
  std::string message;  // one line
  Shortage shortage = Shortage::none;

  // The fields of the event `failed`: kind, message and, if something ran out, shortage.
  Json fields() const;
};

// Too little memory is a failure of the run (kind runs_failed): the machine is too small for it, or the run too large.
// libtorch's errors come without their pages of addresses.
Failure failure_of(const std::exception& error);

}  // namespace mneme::worker
