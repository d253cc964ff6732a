// What our databases can throw.
#pragma once

#include "core/error.h"

namespace mneme::store {

class DatabaseError : public Error {
 public:
  DatabaseError(std::string_view where, std::string_view what) : Error(ErrorKind::io, where, what) {}
  // The disk has no room.
  virtual bool full() const = 0;
  // No answer now, but perhaps later: runs in progress can continue.
  virtual bool away() const { return false; }
};

}  // namespace mneme::store
