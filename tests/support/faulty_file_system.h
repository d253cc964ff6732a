// A disk that fails when it is told to.
//
// Wraps the real file system (a test gives it files in a TemporaryDirectory) and counts every call through
// the seam of core/files.h. The call with a chosen number then fails, is cut short, or is the moment at which
// the power goes off: that call and all later ones fail, and lose_power() afterwards leaves on the disk only
// what had been made durable, so a loop over all numbers visits every point at which a real disk can let us down.
//
// What is durable: the content that a file had at its last sync(); the names (creations, renames, removals and
// directories) that a directory had at its last sync_directory(). What was there before is durable. Nothing is
// really synced: that would only make the loops slow.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/files.h"

namespace mneme::testing {

enum class Fault {
  none,
  io_error,     // the call does nothing and fails
  no_space,     // a write stores half and fails; other calls as io_error
  short_write,  // a write stores half and says so; other calls succeed
  power_loss,   // the call and all after it fail
};

// What survives in addition to what is durable: a disk may have written more than it was asked to.
enum class Survives {
  durable_only,
  names_too,  // directories reached the disk, unsynced content did not
  all,        // as when only the process was killed
};

class FaultyFileSystem : public FileSystem {
 public:
  FaultyFileSystem() = default;
  FaultyFileSystem(Fault fault, int call) : fault_(fault), failing_call_(call) {}

  int calls() const { return calls_; }
  bool struck() const { return struck_; }

  std::unique_ptr<OutputFile> create(const Path& path) override { return open(path, true); }
  std::unique_ptr<OutputFile> append(const Path& path) override { return open(path, false); }

  void rename(const Path& from, const Path& to) override {
    before("rename", to);
    remember(from);
    remember(to);
    real_file_system().rename(from, to);
    names_[to] = names_[from];
    names_[from] = nullptr;
  }
  void remove(const Path& path) override {
    before("remove", path);
    remember(path);
    real_file_system().remove(path);
    names_[path] = nullptr;
  }
  void truncate(const Path& path, std::size_t size) override {
    before("truncate", path);
    remember(path);
    real_file_system().truncate(path, size);
  }
  void create_directories(const Path& path) override {
    before("create the directory", path);
    for (Path part = path; !part.empty() && !std::filesystem::exists(part); part = part.parent_path())
      new_directories_.push_back(part);
    real_file_system().create_directories(path);
  }
  void sync_directory(const Path& path) override {
    before("sync the directory", path);
    for (const auto& [name, content] : names_)
      if (name.parent_path() == path) durable_names_[name] = content;
    std::erase_if(new_directories_, [&](const Path& directory) { return directory.parent_path() == path; });
  }

  // Leaves on the disk what a power loss now would leave.
  void lose_power(Survives survives = Survives::durable_only) {
    if (survives == Survives::all) return;
    for (const auto& [path, content] : survives == Survives::names_too ? names_ : durable_names_) {
      std::filesystem::remove(path);
      if (!content) continue;
      auto file = real_file_system().create(path);
      write_all(*file, std::as_bytes(std::span(*content)));
      file->close();
    }
    if (survives == Survives::durable_only)
      for (const Path& directory : new_directories_) std::filesystem::remove_all(directory);
  }

 private:
  // The durable content of one file, whatever it is called; null: no such file.
  using Content = std::shared_ptr<std::string>;

  class File : public OutputFile {
   public:
    File(FaultyFileSystem& disk, Path path, Content content, std::unique_ptr<OutputFile> real)
        : disk_(disk), path_(std::move(path)), content_(std::move(content)), real_(std::move(real)) {}

    std::size_t write_some(std::span<const std::byte> bytes) override {
      const std::span<const std::byte> half = bytes.first((bytes.size() + 1) / 2);
      if (disk_.strikes_now(Fault::no_space)) write_all(*real_, half);
      const bool shortened = disk_.strikes_now(Fault::short_write);
      disk_.before("write", path_);
      return real_->write_some(shortened ? half : bytes);
    }
    void sync() override {
      disk_.before("sync", path_);
      *content_ = read_file(disk_.present_path(content_, path_));
    }
    void close() override {
      real_->close();
      disk_.before("close", path_);
    }

   private:
    FaultyFileSystem& disk_;
    Path path_;
    Content content_;
    std::unique_ptr<OutputFile> real_;
  };

  std::unique_ptr<OutputFile> open(const Path& path, bool truncating) {
    before("open for writing", path);
    remember(path);
    Content& content = names_[path];
    if (!content) content = std::make_shared<std::string>();
    auto real = truncating ? real_file_system().create(path) : real_file_system().append(path);
    return std::make_unique<File>(*this, path, content, std::move(real));
  }

  // Where a file that was opened as `path` is now.
  Path present_path(const Content& content, const Path& path) const {
    for (const auto& [name, held] : names_)
      if (held == content) return name;
    return path;
  }

  // The first time that a file is met, what the disk has is durable.
  void remember(const Path& path) {
    if (names_.contains(path)) return;
    const bool exists = std::filesystem::exists(path);
    names_[path] = durable_names_[path] = exists ? std::make_shared<std::string>(read_file(path)) : nullptr;
  }

  bool strikes_now(Fault fault) const { return fault_ == fault && calls_ == failing_call_; }

  void before(std::string_view action, const Path& path) {
    const int call = calls_++;
    const bool now = fault_ == Fault::power_loss ? call >= failing_call_ : call == failing_call_;
    if (fault_ == Fault::none || !now) return;
    struck_ = true;
    if (fault_ == Fault::short_write) return;
    throw Error(ErrorKind::io, path.string(), "cannot " + std::string(action) + ": injected fault");
  }

  Fault fault_ = Fault::none;
  int failing_call_ = -1;
  int calls_ = 0;
  bool struck_ = false;
  std::map<Path, Content> names_;
  std::map<Path, Content> durable_names_;
  std::vector<Path> new_directories_;
};

// Every fault at every call, and after a power loss every state of the disk: attempt(fault, call, survives) returns
// whether the call was reached.
template <class Attempt>
void at_every_fault(Attempt attempt) {
  const auto every_call = [&](Fault fault, Survives survives) {
    for (int call = 0; attempt(fault, call, survives); ++call) {
    }
  };
  for (const Fault fault : {Fault::io_error, Fault::no_space, Fault::short_write}) every_call(fault, Survives::all);
  for (const Survives survives : {Survives::durable_only, Survives::names_too, Survives::all})
    every_call(Fault::power_loss, survives);
}

}  // namespace mneme::testing
