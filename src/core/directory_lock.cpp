#include "core/directory_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "core/error.h"

namespace mneme {

DirectoryLock::DirectoryLock(const Path& directory)
    : file_(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
  if (file_ < 0 || ::flock(file_, LOCK_EX) != 0) {
    if (file_ >= 0) ::close(file_);
    throw Error(ErrorKind::io, directory.string(), "cannot lock the directory");
  }
}

DirectoryLock::~DirectoryLock() { ::close(file_); }

}  // namespace mneme
