#include "store/run_writer.h"

#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <ctime>
#include <thread>
#include <utility>

namespace mneme::store {
namespace {

namespace fs = std::filesystem;

// Writes take milliseconds: a process that holds the lock longer has been paused in the middle of one.
constexpr auto kPatience = std::chrono::seconds(5);
constexpr auto kPause = std::chrono::milliseconds(2);

int open_lock(const Path& file) {
  const int descriptor = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (descriptor < 0) throw Error(ErrorKind::io, file.string(), fmt::format("cannot open: {}", std::strerror(errno)));
  return descriptor;
}

// Marks of attempts that are over.
void remove_marks(const RunDirectory& directory, std::int64_t present) {
  std::vector<Path> old;
  for (const auto& entry : fs::directory_iterator(directory.path()))
    if (entry.path().filename().string().starts_with("alive.") && entry.path() != directory.alive(present))
      old.push_back(entry.path());
  for (const Path& mark : old) file_system().remove(mark);
}

}  // namespace

StaleAttempt::StaleAttempt(const Path& directory, std::int64_t ours, std::int64_t present)
    : Error(ErrorKind::io, directory.string(),
            fmt::format("the run was taken over: its newest attempt is {}, ours is {}", present, ours)) {}

RunRemoved::RunRemoved(const Path& directory)
    : Error(ErrorKind::io, directory.string(), "the run's directory was removed while it was trained") {}

RunWriter::RunWriter(RunDirectory directory, std::int64_t number, std::string holder)
    : directory_(std::move(directory)),
      number_(number),
      holder_(std::move(holder)),
      lock_(open_lock(directory_.path() / "lock")) {}

RunWriter::RunWriter(RunWriter&& other) noexcept
    : directory_(std::move(other.directory_)),
      number_(other.number_),
      holder_(std::move(other.holder_)),
      lock_(std::exchange(other.lock_, -1)),
      alive_(std::exchange(other.alive_, -1)) {}

RunWriter::~RunWriter() {
  if (alive_ >= 0) {
    ::unlink(directory_.alive(number_).c_str());
    ::close(alive_);
  }
  if (lock_ >= 0) ::close(lock_);
}

RunWriter RunWriter::begin(const RunDirectory& directory, const Json& config, std::int64_t number,
                           const std::string& holder) {
  directory.create(config);
  RunWriter writer(directory, number, holder);
  const auto held = writer.lock();
  const Attempt present = directory.attempt();
  if (number == 0) {
    if (directory.state() == RunState::running)
      throw Error(ErrorKind::io, directory.path().string(), "another process is training this run");
    writer.number_ = present.number + 1;
  } else if (present.number >= number) {
    throw StaleAttempt(directory.path(), number, present.number);
  }
  // Marked before it is named: there is no moment at which the attempt looks dead.
  writer.alive_ = open_lock(directory.alive(writer.number_));
  if (::flock(writer.alive_, LOCK_EX | LOCK_NB) != 0)
    throw Error(ErrorKind::io, directory.alive(writer.number_).string(), "another process holds this attempt");
  writer.store_attempt(present.deaths);
  remove_temporaries(directory.path());
  if (fs::exists(directory.kept_weights())) remove_temporaries(directory.kept_weights());
  remove_marks(directory, writer.number_);
  return writer;
}

RunWriter RunWriter::speak_for(const RunDirectory& directory, std::int64_t number, const std::string& holder) {
  RunWriter writer(directory, number, holder);
  const auto held = writer.lock();
  const Attempt present = directory.attempt();
  if (present.number > number) throw StaleAttempt(directory.path(), number, present.number);
  if (present.number < number) writer.store_attempt(present.deaths);
  return writer;
}

std::shared_ptr<void> RunWriter::lock() const {
  const auto start = std::chrono::steady_clock::now();
  while (::flock(lock_, LOCK_EX | LOCK_NB) != 0) {
    if (std::chrono::steady_clock::now() - start > kPatience)
      throw Error(ErrorKind::io, directory_.path().string(), "another process holds the directory's lock");
    std::this_thread::sleep_for(kPause);
  }
  return {nullptr, [descriptor = lock_](void*) { ::flock(descriptor, LOCK_UN); }};
}

std::shared_ptr<void> RunWriter::enter() const {
  auto held = lock();
  const std::int64_t present = directory_.attempt().number;
  // Numbers only grow: a smaller one is that of another directory, made after ours was removed.
  if (present < number_) throw RunRemoved(directory_.path());
  if (present != number_) throw StaleAttempt(directory_.path(), number_, present);
  return held;
}

CommitGate RunWriter::gate() const {
  return [this] { return enter(); };
}

void RunWriter::store_attempt(std::int64_t deaths) const {
  commit_file(directory_.path() / "attempt.json",
              Json{{"attempt", number_}, {"deaths", deaths}, {"holder", holder_}}.dump() + "\n", {});
}

void RunWriter::set_deaths(std::int64_t deaths) const {
  const auto held = enter();
  store_attempt(deaths);
}

void RunWriter::append_line(const char* name, std::string line) const {
  line += '\n';
  const auto held = enter();
  auto file = file_system().append(directory_.path() / name);
  write_all(*file, std::as_bytes(std::span(line)));
  file->close();
}

void RunWriter::write_environment(const Json& environment) const {
  commit_file(directory_.path() / "environment.json", environment.dump(2) + "\n", {.gate = gate()});
}

void RunWriter::write_traces(const Json& traces) const {
  commit_file(directory_.path() / "traces.json", traces.dump() + "\n", {.gate = gate()});
}

void RunWriter::write_summary(const Json& summary) const {
  // A run that has ended has its whole curve, also after a power loss.
  if (const Path metrics = directory_.path() / "metrics.jsonl"; fs::exists(metrics)) {
    auto file = file_system().append(metrics);
    file->sync();
    file->close();
  }
  commit_file(directory_.path() / "summary.json", summary.dump(2) + "\n", {.gate = gate()});
}

void RunWriter::remove_summary() const {
  const auto held = enter();
  if (!fs::exists(directory_.path() / "summary.json")) return;
  file_system().remove(directory_.path() / "summary.json");
  file_system().sync_directory(directory_.path());
}

void RunWriter::append_metric(const Json& metric) const { append_line("metrics.jsonl", metric.dump()); }

void RunWriter::replace_metrics(const std::vector<Json>& metrics) const {
  std::string text;
  for (const Json& metric : metrics) text += metric.dump() + "\n";
  commit_file(directory_.path() / "metrics.jsonl", text, {.gate = gate()});
}

void RunWriter::log(std::string_view line) const noexcept {
  try {
    append_line("log.txt", fmt::format("{:%Y-%m-%dT%H:%M:%SZ} {}", fmt::gmtime(std::time(nullptr)), line));
  } catch (const std::exception&) {
    // The log is for people; what counts is in the other files and reports its own failures.
  }
}

}  // namespace mneme::store
