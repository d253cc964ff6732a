#include "core/commit.h"

#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <exception>

#include "core/error.h"

namespace mneme {
namespace {

constexpr std::string_view kTemporary = ".tmp";

Path temporary_for(const Path& path) {
  // The process id and a count keep two writers of one path from sharing a temporary.
  static std::atomic<unsigned> count = 0;
  Path temporary = path;
  temporary += fmt::format(".{}-{}{}", ::getpid(), count++, kTemporary);
  return temporary;
}

}  // namespace

void commit_file(const Path& path, const std::vector<std::span<const std::byte>>& pieces, const Commit& commit) {
  FileSystem& files = file_system();
  const Path temporary = temporary_for(path);
  std::shared_ptr<void> held;
  try {
    auto file = files.create(temporary);
    for (const auto& piece : pieces) write_all(*file, piece);
    file->sync();
    file->close();
    if (commit.gate) held = commit.gate();
    if (!commit.previous.empty() && std::filesystem::exists(path)) files.rename(path, commit.previous);
    files.rename(temporary, path);
  } catch (...) {
    const std::exception_ptr first = std::current_exception();
    try {
      files.remove(temporary);
    } catch (const Error&) {
      // The first error is the one to report.
    }
    std::rethrow_exception(first);
  }
  files.sync_directory(path.parent_path());
}

void commit_file(const Path& path, std::string_view text, const Commit& commit) {
  commit_file(path, std::vector{std::as_bytes(std::span(text))}, commit);
}

void remove_temporaries(const Path& directory) {
  std::vector<Path> found;
  for (const auto& entry : std::filesystem::directory_iterator(directory))
    if (entry.path().filename().string().ends_with(kTemporary)) found.push_back(entry.path());
  for (const Path& path : found) file_system().remove(path);
}

}  // namespace mneme
