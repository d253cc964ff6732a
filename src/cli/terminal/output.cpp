#include "cli/terminal/output.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>

namespace mneme::cli {
namespace {

// The reader is gone for good: what follows need not fail again.
void write_to_nowhere(int descriptor) {
  const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  if (nowhere < 0) return;
  ::dup2(nowhere, descriptor);
  ::close(nowhere);
}

ssize_t write_all(void* cookie, const char* bytes, std::size_t size) {
  const auto descriptor = static_cast<int>(reinterpret_cast<std::intptr_t>(cookie));
  for (std::size_t written = 0; written < size;) {
    const ssize_t count = ::write(descriptor, bytes + written, size - written);
    if (count >= 0) {
      written += static_cast<std::size_t>(count);
    } else if (errno == EPIPE) {
      write_to_nowhere(descriptor);
      break;
    } else if (errno != EINTR) {
      return 0;
    }
  }
  return static_cast<ssize_t>(size);
}

std::FILE* outliving(int descriptor, int buffering) {
  cookie_io_functions_t functions{};
  functions.write = write_all;
  std::FILE* stream = ::fopencookie(reinterpret_cast<void*>(static_cast<std::intptr_t>(descriptor)), "w", functions);
  if (stream) std::setvbuf(stream, nullptr, buffering, BUFSIZ);
  return stream;
}

}  // namespace

void outlive_readers() {
  ::signal(SIGPIPE, SIG_IGN);
  std::FILE* out = outliving(STDOUT_FILENO, ::isatty(STDOUT_FILENO) ? _IOLBF : _IOFBF);
  std::FILE* err = outliving(STDERR_FILENO, _IONBF);
  // glibc's standard streams are variables; nothing was written to the old ones yet.
  if (out) stdout = out;
  if (err) stderr = err;
}

}  // namespace mneme::cli
