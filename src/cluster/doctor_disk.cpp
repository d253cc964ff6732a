// What the lab's disk is asked for, tried out.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstring>
#include <fstream>

#include "cluster/doctor.h"
#include "cluster/preflight.h"
#include "core/error.h"
#include "core/files.h"
#include "core/hash.h"
#include "core/text.h"
#include "store/lease_holder.h"

namespace mneme::cluster {
namespace {

namespace fs = std::filesystem;

// Another process tries to get the lock: 0 if it does, 1 if it is refused, 2 if locks do not work at all.
int try_in_child(const Path& file) {
  const pid_t child = ::fork();
  if (child == 0) {
    const int descriptor = ::open(file.c_str(), O_RDWR | O_CLOEXEC);
    if (descriptor < 0) ::_exit(2);
    if (::flock(descriptor, LOCK_EX | LOCK_NB) == 0) ::_exit(0);
    ::_exit(errno == EWOULDBLOCK ? 1 : 2);
  }
  int status = 0;
  if (child < 0 || ::waitpid(child, &status, 0) != child || !WIFEXITED(status)) return 2;
  return WEXITSTATUS(status);
}

Finding try_locks(const Path& file) {
  const int descriptor = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (descriptor < 0) return {"flock", Verdict::bad, fmt::format("cannot create a file: {}", std::strerror(errno))};
  const bool locked = ::flock(descriptor, LOCK_EX | LOCK_NB) == 0;
  const std::string why = locked ? "" : std::strerror(errno);
  const int held = locked ? try_in_child(file) : 2;
  ::flock(descriptor, LOCK_UN);
  const int released = locked ? try_in_child(file) : 2;
  ::close(descriptor);
  if (!locked) return {"flock", Verdict::bad, fmt::format("does not work here: {}; use --stage", why)};
  if (held != 1) return {"flock", Verdict::bad, "one process's lock does not keep another process out; use --stage"};
  if (released != 0) return {"flock", Verdict::bad, "a lock that was released stays locked; use --stage"};
  return {"flock", Verdict::good, "keeps a second process out"};
}

// The directory, or the one in which it will be.
Path existing(const Path& wanted) {
  std::error_code ignored;
  Path directory = fs::absolute(wanted);
  while (!fs::is_directory(directory, ignored) && directory.has_relative_path()) directory = directory.parent_path();
  return directory;
}

Path unique_in(const Path& directory) {
  return directory / (".doctor-" + sha256_hex(store::unique_name()).substr(0, 12));
}

struct Mount {
  std::string type, options;
};

// The mount that a directory is on: the longest mount point that is a part of its path.
Mount mount_of(const Path& directory) {
  std::ifstream file("/proc/self/mounts");
  const std::string path = fs::weakly_canonical(directory).string();
  Mount found;
  std::size_t longest = 0;
  for (std::string line; std::getline(file, line);) {
    const std::vector<std::string> fields = split(line, ' ');
    if (fields.size() < 4 || fields[1].size() < longest) continue;
    const std::string& point = fields[1];
    if (point != "/" && path != point && !path.starts_with(point + "/")) continue;
    longest = point.size();
    found = {fields[2], fields[3]};
  }
  return found;
}

Finding examine_rename(const Path& directory) {
  write_file_atomically(directory / "file", "old");
  write_file_atomically(directory / "file", "new");
  if (read_file(directory / "file") != "new")
    return {"rename", Verdict::bad, "a replaced file still has its old content"};
  std::error_code trouble;
  fs::create_hard_link(directory / "file", directory / "link", trouble);
  if (trouble)
    return {"rename", Verdict::doubtful,
            fmt::format("replaces a file; hard links do not work ({}): only one machine can name the lab's leases",
                        trouble.message())};
  return {"rename", Verdict::good, "replaces a file in one step; hard links work"};
}

Finding examine_sync(const Path& directory) {
  constexpr int kTimes = 5;
  constexpr double kSlow = 0.2;
  std::vector<double> seconds;
  const std::string bytes(64 << 10, 'x');
  for (int time = 0; time < kTimes; ++time) {
    const auto start = std::chrono::steady_clock::now();
    write_file_atomically(directory / "synced", bytes);
    seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  std::sort(seconds.begin(), seconds.end());
  const double median = seconds[kTimes / 2];
  return {"fsync", median > kSlow ? Verdict::doubtful : Verdict::good,
          fmt::format("a synced file of 64 KiB takes {:.1f} ms{}", 1000 * median,
                      median > kSlow ? ": checkpoints will be slow" : "")};
}

Finding examine_clock(const Path& directory) {
  const auto now = [] {
    return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  };
  const double before = now();
  write_file_atomically(directory / "clock", "");
  const double after = now();
  struct stat info {};
  if (::stat((directory / "clock").c_str(), &info) != 0) return {"disk clock", Verdict::bad, std::strerror(errno)};
  const double written = static_cast<double>(info.st_mtim.tv_sec) + 1e-9 * static_cast<double>(info.st_mtim.tv_nsec);
  const double skew = written < before ? written - before : written > after ? written - after : 0;
  // A kernel stamps files with the time of its last tick.
  constexpr double kTick = 0.02, kMuch = 2;
  return {"disk clock", std::abs(skew) > kMuch ? Verdict::doubtful : Verdict::good,
          fmt::format("{:+.3f} s between the disk and this machine", std::abs(skew) < kTick ? 0.0 : skew)};
}

Finding examine_space(const Path& directory) {
  struct statvfs info {};
  if (::statvfs(directory.c_str(), &info) != 0) return {"space", Verdict::bad, std::strerror(errno)};
  constexpr double kGigabyte = 1e9, kLittle = 2, kTooLittle = 0.1;
  const double free = static_cast<double>(info.f_bavail) * static_cast<double>(info.f_frsize) / kGigabyte;
  // Some disks count no files.
  const bool files = info.f_files == 0 || info.f_favail > 10'000;
  return {"space",
          free < kTooLittle || !files ? Verdict::bad
          : free < kLittle            ? Verdict::doubtful
                                      : Verdict::good,
          fmt::format("{:.1f} GB free{}", free, files ? "" : fmt::format(", but only {} more files", info.f_favail))};
}

}  // namespace

std::string lock_trouble(std::string_view type, std::string_view options) {
  const std::vector<std::string> all = split(options, ',');
  const auto has = [&](std::string_view option) { return std::find(all.begin(), all.end(), option) != all.end(); };
  if (type.starts_with("nfs")) {
    for (const char* local : {"nolock", "local_lock=all", "local_lock=flock"})
      if (has(local)) return fmt::format("{} is mounted with {}", type, local);
  }
  if (type == "lustre" && !has("flock")) return "lustre is mounted without flock";
  return "";
}

Finding examine_locks(const Path& wanted) {
  const Path parent = existing(wanted), file = unique_in(parent);
  const Mount mount = mount_of(parent);
  if (const std::string trouble = lock_trouble(mount.type, mount.options); !trouble.empty())
    return {"flock", Verdict::bad,
            trouble + ": locks do not reach other machines; use --stage, or ask for a mount with locks"};
  const Finding locks = try_locks(file);
  std::error_code ignored;
  fs::remove(file, ignored);
  return locks;
}

std::vector<Finding> examine_disk(const Path& wanted) {
  const Path parent = existing(wanted), directory = unique_in(parent);
  std::vector<Finding> findings;
  const Mount mount = mount_of(parent);
  const DiskKind kind = disk_kind(parent);
  findings.push_back({"disk", Verdict::good,
                      fmt::format("{} is on {}{}", parent.string(), mount.type.empty() ? kind.name : mount.type,
                                  kind.network ? ", a disk that machines can share" : ", a disk of this machine")});
  try {
    file_system().create_directories(directory);
    findings.push_back(examine_locks(directory));
    findings.push_back(examine_rename(directory));
    findings.push_back(examine_sync(directory));
    findings.push_back(examine_clock(directory));
  } catch (const Error& error) {
    findings.push_back({"disk", Verdict::bad, error.what()});
  }
  std::error_code ignored;
  fs::remove_all(directory, ignored);
  findings.push_back(examine_space(parent));
  return findings;
}

}  // namespace mneme::cluster
