#include "store/run_directory.h"

#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <ctime>

#include "core/error.h"

namespace mneme {
namespace {

namespace fs = std::filesystem;

void append_line(const Path& path, std::string line) {
  line += '\n';
  auto file = file_system().append(path);
  write_all(*file, std::as_bytes(std::span(line)));
  file->close();
}

}  // namespace

std::string_view run_state_name(RunState state) {
  switch (state) {
    case RunState::fresh: return "new";
    case RunState::running: return "running";
    case RunState::interrupted: return "interrupted";
    case RunState::done: return "done";
    case RunState::diverged: return "diverged";
    case RunState::failed: return "failed";
  }
  return "";
}

void RunDirectory::create(const Json& config) const {
  if (fs::exists(path_) && !fs::is_directory(path_))
    throw Error(ErrorKind::io, path_.string(), "is a file, expected a run directory; move it away and run again");
  file_system().create_directories(path_);
  const std::string text = canonical(config) + "\n";
  const Path file = path_ / "config.json";
  if (!fs::exists(file)) {
    write_file_atomically(file, text);
  } else if (read_file(file) != text) {
    throw Error(ErrorKind::data, file.string(), "holds another configuration than its run id says; the file was changed");
  }
}

RunDirectory::Lock::~Lock() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

RunDirectory::Lock::Lock(Lock&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}

RunDirectory::Lock RunDirectory::lock() const {
  const Path file = path_ / "lock";
  const int descriptor = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (descriptor < 0)
    throw Error(ErrorKind::io, file.string(), fmt::format("cannot open: {}", std::strerror(errno)));
  if (::flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
    ::close(descriptor);
    throw Error(ErrorKind::io, path_.string(), "another process is training this run");
  }
  return Lock(descriptor);
}

void RunDirectory::write_environment(const Json& environment) const {
  write_file_atomically(path_ / "environment.json", environment.dump(2) + "\n");
}

void RunDirectory::write_summary(const Json& summary) const {
  write_file_atomically(path_ / "summary.json", summary.dump(2) + "\n");
}

void RunDirectory::remove_summary() const { file_system().remove(path_ / "summary.json"); }

void RunDirectory::append_metric(const Json& metric) const { append_line(path_ / "metrics.jsonl", metric.dump()); }

void RunDirectory::keep_metrics_until(std::int64_t step) const {
  const Path file = path_ / "metrics.jsonl";
  if (!fs::exists(file)) return;
  std::string kept;
  for (const Json& metric : metrics())
    if (metric.at("step").get<std::int64_t>() <= step) kept += metric.dump() + "\n";
  write_file_atomically(file, kept);
}

void RunDirectory::log(std::string_view line) const noexcept {
  try {
    append_line(path_ / "log.txt", fmt::format("{:%Y-%m-%dT%H:%M:%SZ} {}", fmt::gmtime(std::time(nullptr)), line));
  } catch (const std::exception&) {
    // The log is for people; what counts is in the other files and reports its own failures.
  }
}

RunState RunDirectory::state() const {
  if (const auto ended = summary()) {
    const auto outcome = ended->value("outcome", "");
    if (outcome == "done") return RunState::done;
    if (outcome == "diverged") return RunState::diverged;
    return RunState::failed;
  }
  const int descriptor = ::open((path_ / "lock").c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor >= 0) {
    const bool held = ::flock(descriptor, LOCK_SH | LOCK_NB) != 0;
    ::close(descriptor);
    if (held) return RunState::running;
  }
  return fs::exists(checkpoint()) ? RunState::interrupted : RunState::fresh;
}

Json RunDirectory::config() const {
  const Path file = path_ / "config.json";
  return parse_json(read_file(file), file.string());
}

std::optional<Json> RunDirectory::summary() const {
  const Path file = path_ / "summary.json";
  if (!fs::exists(file)) return std::nullopt;
  return parse_json(read_file(file), file.string());
}

std::vector<Json> RunDirectory::metrics() const {
  std::vector<Json> lines;
  const Path file = path_ / "metrics.jsonl";
  if (!fs::exists(file)) return lines;
  const std::string text = read_file(file);
  std::size_t start = 0;
  // A crash can leave half a line at the end: whatever has no newline was never acknowledged.
  for (std::size_t end; (end = text.find('\n', start)) != text.npos; start = end + 1)
    lines.push_back(parse_json(std::string_view(text).substr(start, end - start), file.string()));
  return lines;
}

}  // namespace mneme
