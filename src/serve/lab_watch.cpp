#include "serve/lab_watch.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <memory>
#include <utility>

namespace mneme::serve {
namespace {

constexpr std::size_t kTurns = 3;
// Rounds between two listings of runs/, whatever its time says.
constexpr int kListAnyway = 20;
// A time this recent may hide two changes: the clock of a file system ticks in milliseconds, on some in seconds.
constexpr std::int64_t kYoung = 50'000'000;

struct Descriptor {
  int number;
  ~Descriptor() {
    if (number >= 0) ::close(number);
  }
};

std::int64_t nanoseconds(const timespec& time) { return time.tv_sec * 1'000'000'000LL + time.tv_nsec; }

std::int64_t time_now() {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  return nanoseconds(now);
}

// The time of a directory, 0 if it is not there.
std::int64_t time_of(const Path& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 ? nanoseconds(status.st_mtim) : 0;
}

// A young time is not remembered, so that the next round looks again.
std::int64_t settled(std::int64_t time, std::int64_t now) { return now - time < kYoung ? time - 1 : time; }

}  // namespace

std::vector<std::string> LabWatch::list(Round& round) {
  std::unordered_set<std::string> present;
  const std::unique_ptr<DIR, int (*)(DIR*)> directory(::opendir(lab_.runs().c_str()), ::closedir);
  if (!directory) return {};
  while (const dirent* entry = ::readdir(directory.get()))
    if (entry->d_name[0] != '.') present.insert(entry->d_name);
  std::erase_if(order_, [&](const std::string& run) {
    if (present.contains(run)) return false;
    round.gone.push_back(run);
    seen_.erase(run);
    trained_.erase(run);
    return true;
  });
  std::vector<std::string> come;
  for (const std::string& run : present)
    if (seen_.try_emplace(run).second) come.push_back(run);
  return come;
}

void LabWatch::look_at(int runs, const std::string& run, std::int64_t clock, Round& round) {
  struct stat status {};
  Seen now;
  if (::fstatat(runs, run.c_str(), &status, 0) == 0) now.directory = settled(nanoseconds(status.st_mtim), clock);
  if (!trained_.empty() && trained_.contains(run) &&
      ::fstatat(runs, (run + "/metrics.jsonl").c_str(), &status, 0) == 0) {
    now.metrics = nanoseconds(status.st_mtim);
    now.metrics_size = status.st_size;
  }
  if (Seen& seen = seen_.at(run); now != std::exchange(seen, now)) round.changed.push_back(run);
}

LabWatch::Round LabWatch::look() {
  Round round;
  const Descriptor runs{::open(lab_.runs().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  if (runs.number < 0) {
    round.lab_is_gone = true;
    runs_time_ = -1;
    return round;
  }
  const std::int64_t clock = time_now(), runs_time = settled(time_of(lab_.runs()), clock),
                     studies_time = settled(time_of(lab_.studies()), clock);
  round.studies = studies_time != std::exchange(studies_time_, studies_time);
  std::vector<std::string> come;
  if (runs_time != std::exchange(runs_time_, runs_time) || rounds_++ % kListAnyway == 0) come = list(round);
  for (const std::string& run : trained_) look_at(runs.number, run, clock, round);
  if (!order_.empty())
    for (std::size_t i = 0; i <= order_.size() / kTurns; ++i) {
      const std::string& run = order_[turn_++ % order_.size()];
      if (trained_.empty() || !trained_.contains(run)) look_at(runs.number, run, clock, round);
    }
  for (const std::string& run : come) {
    look_at(runs.number, run, clock, round);
    order_.push_back(run);
  }
  return round;
}

void LabWatch::mark(const std::string& run, bool trained) {
  if (!seen_.contains(run)) return;
  if (trained)
    trained_.insert(run);
  else
    trained_.erase(run);
}

}  // namespace mneme::serve
