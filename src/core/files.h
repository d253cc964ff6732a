// The one seam to the disk: everything that Mneme writes goes through a FileSystem.
//
// The real one talks to the kernel; tests put a wrapper in its place that fails, shortens or forgets
// any single call. Each call below is one system call or a retry loop over one, so a fault can be
// placed at every point where a real disk can fail.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mneme {

using Path = std::filesystem::path;

// An open file for writing. Closing without close() discards errors and is for clean-up only.
class OutputFile {
 public:
  virtual ~OutputFile() = default;
  // Writes a part or all of the bytes and returns how many, at least one if there are any; throws Error(io).
  [[nodiscard]] virtual std::size_t write_some(std::span<const std::byte> bytes) = 0;
  virtual void sync() = 0;
  virtual void close() = 0;
};

class FileSystem {
 public:
  virtual ~FileSystem() = default;
  virtual std::unique_ptr<OutputFile> create(const Path& path) = 0;  // truncates
  virtual std::unique_ptr<OutputFile> append(const Path& path) = 0;  // creates if missing
  virtual void rename(const Path& from, const Path& to) = 0;
  virtual void remove(const Path& path) = 0;  // a missing file is fine
  virtual void truncate(const Path& path, std::size_t size) = 0;
  // A new directory outlives a power loss only once its parent was synced.
  virtual void create_directories(const Path& path) = 0;
  virtual void sync_directory(const Path& path) = 0;
};

// The file system in force: the real one unless a ScopedFileSystem is alive.
FileSystem& file_system();
FileSystem& real_file_system();

class ScopedFileSystem {
 public:
  explicit ScopedFileSystem(FileSystem& replacement);
  ~ScopedFileSystem();
  ScopedFileSystem(const ScopedFileSystem&) = delete;
  ScopedFileSystem& operator=(const ScopedFileSystem&) = delete;

 private:
  FileSystem* previous_;
};

// After return `path` holds exactly these bytes on the disk. On any failure, or a crash at any point, it holds
// what it held before or, once only the directory's sync was left, the new bytes: never a mixture or a part.
// (Temporary file next to it, fsync, rename, fsync of the directory.)
void write_file_atomically(const Path& path, std::span<const std::byte> bytes);
void write_file_atomically(const Path& path, std::string_view text);

// The same for content in several pieces, without joining them in memory.
void write_file_atomically(const Path& path, const std::vector<std::span<const std::byte>>& pieces);

// Writes until everything is written; throws Error(io).
void write_all(OutputFile& file, std::span<const std::byte> bytes);

// The whole file; throws Error(data) if it cannot be read.
std::string read_file(const Path& path);

}  // namespace mneme
