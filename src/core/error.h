// Errors that a person can act on.
//
// Every failure caused by input, the disk or the environment is an Error whose text reads
// "[where] what, got X, expected Y". Broken invariants of our own are assertions instead (require()).
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace mneme {

// What kind of trouble it is; each kind is one exit code of the programs (docs/exit-codes.md).
enum class ErrorKind {
  internal = 1,      // a broken invariant: a defect of Mneme
  usage = 2,         // a wrong option, key or value
  data = 3,          // a file that is missing, damaged or of another format
  io = 4,            // the disk or the system refused
  runs_failed = 5,   // some runs failed
  mismatch = 6,      // a verification did not hold
  interrupted = 130  // stopped by Ctrl-C or SIGTERM
};

class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, std::string_view where, std::string_view what);

  ErrorKind kind() const { return kind_; }
  int exit_code() const { return static_cast<int>(kind_); }

 private:
  ErrorKind kind_;
};

// Throws an internal Error naming the source line unless `holds`.
// (The compilers' builtins, because clang 14 has no std::source_location.)
void require(bool holds, std::string_view what, std::string_view file = __builtin_FILE(), int line = __builtin_LINE());

}  // namespace mneme
