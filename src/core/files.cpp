#include "core/files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include "core/commit.h"
#include "core/error.h"
#include "core/shortage.h"

namespace mneme {
namespace {

[[noreturn]] void fail(const Path& path, std::string_view action, int code) {
  const std::string what = fmt::format("cannot {}: {}", action, std::strerror(code));
  if (code == ENOSPC || code == EDQUOT)
    throw ShortageError(Shortage::disk, ErrorKind::io, path.string(),
                        what + "; free some space and run the same command again");
  throw Error(ErrorKind::io, path.string(), what);
}

class PosixOutputFile : public OutputFile {
 public:
  PosixOutputFile(Path path, int flags) : path_(std::move(path)) {
    do {
      descriptor_ = ::open(path_.c_str(), flags | O_CLOEXEC, 0666);
    } while (descriptor_ < 0 && errno == EINTR);
    if (descriptor_ < 0) fail(path_, "open for writing", errno);
  }
  ~PosixOutputFile() override {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  std::size_t write_some(std::span<const std::byte> bytes) override {
    for (;;) {
      const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
      if (written > 0 || (written == 0 && bytes.empty())) return static_cast<std::size_t>(written);
      if (written == 0) fail(path_, "write", ENOSPC);
      if (errno != EINTR) fail(path_, "write", errno);
    }
  }
  void sync() override {
    if (::fsync(descriptor_) != 0) fail(path_, "sync", errno);
  }
  void close() override {
    const int descriptor = std::exchange(descriptor_, -1);
    // On Linux the descriptor is gone even when close() reports EINTR.
    if (::close(descriptor) != 0 && errno != EINTR) fail(path_, "close", errno);
  }

 private:
  Path path_;
  int descriptor_ = -1;
};

class PosixFileSystem : public FileSystem {
 public:
  std::unique_ptr<OutputFile> create(const Path& path) override {
    return std::make_unique<PosixOutputFile>(path, O_WRONLY | O_CREAT | O_TRUNC);
  }
  std::unique_ptr<OutputFile> append(const Path& path) override {
    return std::make_unique<PosixOutputFile>(path, O_WRONLY | O_CREAT | O_APPEND);
  }
  void rename(const Path& from, const Path& to) override {
    if (::rename(from.c_str(), to.c_str()) != 0) fail(to, "rename into place", errno);
  }
  void remove(const Path& path) override {
    if (::unlink(path.c_str()) != 0 && errno != ENOENT) fail(path, "remove", errno);
  }
  void truncate(const Path& path, std::size_t size) override {
    if (::truncate(path.c_str(), static_cast<off_t>(size)) != 0) fail(path, "truncate", errno);
  }
  void create_directories(const Path& path) override {
    std::error_code code;
    std::filesystem::create_directories(path, code);
    if (code) fail(path, "create the directory", code.value());
    // create_directories is content with a file in the place of the last part.
    if (!std::filesystem::is_directory(path)) fail(path, "create the directory", ENOTDIR);
  }
  void sync_directory(const Path& path) override {
    const Path directory = path.empty() ? Path(".") : path;
    const int descriptor = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor < 0) fail(directory, "open the directory", errno);
    const int result = ::fsync(descriptor);
    const int code = errno;
    ::close(descriptor);
    if (result != 0) fail(directory, "sync the directory", code);
  }
};

FileSystem* current = nullptr;

}  // namespace

FileSystem& real_file_system() {
  static PosixFileSystem instance;
  return instance;
}

FileSystem& file_system() { return current ? *current : real_file_system(); }

ScopedFileSystem::ScopedFileSystem(FileSystem& replacement) : previous_(std::exchange(current, &replacement)) {}

ScopedFileSystem::~ScopedFileSystem() { current = previous_; }

void write_all(OutputFile& file, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const std::size_t written = file.write_some(bytes);
    require(written > 0 && written <= bytes.size(), "write_some makes progress");
    bytes = bytes.subspan(written);
  }
}

void write_file_atomically(const Path& path, const std::vector<std::span<const std::byte>>& pieces) {
  commit_file(path, pieces, {});
}

void write_file_atomically(const Path& path, std::span<const std::byte> bytes) {
  write_file_atomically(path, std::vector{bytes});
}

void write_file_atomically(const Path& path, std::string_view text) {
  write_file_atomically(path, std::as_bytes(std::span(text)));
}

std::string read_file(const Path& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) throw Error(ErrorKind::data, path.string(), fmt::format("cannot open: {}", std::strerror(errno)));
  std::string content;
  struct stat status {};
  if (::fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode))
    content.reserve(static_cast<std::size_t>(status.st_size));
  std::string block(1 << 16, '\0');
  for (;;) {
    const ssize_t count = ::read(descriptor, block.data(), block.size());
    if (count > 0) {
      content.append(block.data(), static_cast<std::size_t>(count));
    } else if (count == 0) {
      break;
    } else if (errno != EINTR) {
      const int code = errno;
      ::close(descriptor);
      throw Error(ErrorKind::data, path.string(), fmt::format("cannot read: {}", std::strerror(code)));
    }
  }
  ::close(descriptor);
  return content;
}

}  // namespace mneme
