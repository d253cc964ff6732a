// Processes that change what is in one directory take turns.
#pragma once

#include "core/files.h"

namespace mneme {

// Holds the flock of the directory, for which it waits. Throws Error(io) if there is no such directory or it cannot be
// locked. It is another lock than that of a run's `lock` (store/run_writer.h).
class DirectoryLock {
 public:
  explicit DirectoryLock(const Path& directory);
  ~DirectoryLock();
  DirectoryLock(const DirectoryLock&) = delete;
  DirectoryLock& operator=(const DirectoryLock&) = delete;

 private:
  int file_;
};

}  // namespace mneme
