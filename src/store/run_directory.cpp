#include "store/run_directory.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>

#include "core/error.h"
#include "core/text.h"

namespace mneme::store {
namespace {

namespace fs = std::filesystem;

// True if some process holds the file's lock.
bool is_locked(const Path& file) {
  const int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return false;
  const bool held = ::flock(descriptor, LOCK_SH | LOCK_NB) != 0;
  ::close(descriptor);
  return held;
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
    case RunState::cancelled: return "cancelled";
  }
  return "";
}

void RunDirectory::create(const Json& config) const {
  if (fs::exists(path_) && !fs::is_directory(path_))
    throw Error(ErrorKind::io, path_.string(), "is a file, expected a run directory; move it away and run again");
  if (!fs::exists(path_)) {
    file_system().create_directories(path_);
    file_system().sync_directory(path_.parent_path());
  }
  const std::string text = canonical(config) + "\n";
  const Path file = path_ / "config.json";
  if (!fs::exists(file)) {
    write_file_atomically(file, text);
  } else if (read_file(file) != text) {
    throw Error(ErrorKind::data, file.string(), "does not match its run id: the configuration was changed");
  }
}

RunState RunDirectory::state() const {
  if (const auto ended = summary()) {
    const auto outcome = ended->value("outcome", "");
    if (outcome == "done") return RunState::done;
    if (outcome == "diverged") return RunState::diverged;
    if (outcome == "cancelled") return RunState::cancelled;
    return RunState::failed;
  }
  if (const Attempt last = attempt(); last.number > 0 && is_locked(alive(last.number))) return RunState::running;
  return has_checkpoint() ? RunState::interrupted : RunState::fresh;
}

bool RunDirectory::has_checkpoint() const { return fs::exists(checkpoint()) || fs::exists(previous_checkpoint()); }

std::vector<std::int64_t> RunDirectory::kept_steps() const {
  std::vector<std::int64_t> steps;
  if (!fs::exists(kept_weights())) return steps;
  for (const auto& entry : fs::directory_iterator(kept_weights())) {
    const std::string stem = entry.path().stem().string();
    const bool number = !stem.empty() && stem.size() < 16 && stem.find_first_not_of("0123456789") == stem.npos;
    if (number && entry.path().extension() == ".safetensors") steps.push_back(std::stoll(stem));
  }
  std::sort(steps.begin(), steps.end());
  return steps;
}

Attempt RunDirectory::attempt() const {
  const Path file = path_ / "attempt.json";
  if (!fs::exists(file)) return {};
  try {
    const Json json = parse_json(read_file(file), file.string());
    return {json.at("attempt").get<std::int64_t>(), json.at("deaths").get<std::int64_t>(),
            json.at("holder").get<std::string>()};
  } catch (const Json::exception& error) {
    throw Error(ErrorKind::data, file.string(), fmt::format("not an attempt: {}", error.what()));
  }
}

bool RunDirectory::set_aside() const {
  const auto ended = summary();
  return ended && ended->value("outcome", "") == "failed" && ended->value("set_aside", false);
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

std::vector<std::string> RunDirectory::last_log_lines(std::size_t count) const {
  const Path file = path_ / "log.txt";
  if (!fs::exists(file)) return {};
  std::vector<std::string> lines = split(read_file(file), '\n');
  std::erase(lines, "");
  if (lines.size() > count) lines.erase(lines.begin(), lines.end() - static_cast<std::ptrdiff_t>(count));
  return lines;
}

}  // namespace mneme::store
