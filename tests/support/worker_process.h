// A real mneme-worker with one request, to be killed and paused at will.
#pragma once

#include <poll.h>
#include <signal.h>

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "config/run_config.h"
#include "core/json.h"
#include "core/subprocess.h"
#include "store/run_directory.h"
#include "support/places.h"

namespace mneme::testing {

class WorkerProcess {
 public:
  explicit WorkerProcess(const Json& request)
      : process_({.argv = {binary_directory() + "/mneme-worker"},
                  .environment = {"OMP_NUM_THREADS=1", "OPENBLAS_NUM_THREADS=1"},
                  .own_group = true}) {
    process_.send(request.dump());
    process_.close_input();
  }
  // Trains a run. `attempt` 0: whatever comes next. A checkpoint after every step.
  WorkerProcess(const config::RunConfig& run, const store::RunDirectory& directory, std::int64_t attempt = 0)
      : WorkerProcess(Json{{"request", "run"},
                           {"id", run.id},
                           {"attempt", attempt},
                           {"config", run.json()},
                           {"directory", directory.path().string()},
                           {"checkpoint_seconds", 0.0}}) {}

  pid_t pid() const { return process_.pid(); }
  void signal(int number) const { process_.signal(number); }
  const std::string& error_tail() const { return process_.error_tail(); }

  // Waits for an event of this kind (and keeps the others); nothing if the worker ended first.
  std::optional<Json> wait_for(const std::string& kind) {
    return wait([&](const Json& event) { return event["event"] == kind; });
  }
  std::optional<Json> wait(const std::function<bool(const Json&)>& wanted) {
    for (;;) {
      while (next_ < events.size())
        if (wanted(events[next_++])) return events[next_ - 1];
      if (!pump()) return std::nullopt;
    }
  }
  // Waits for the end; the exit code, 128 + signal if it was killed.
  int wait_for_end() {
    while (pump()) {
    }
    return *process_.exit_code();
  }

  std::vector<Json> events;

 private:
  // Reads what comes next; false once the worker is gone.
  bool pump() {
    for (const std::string& line : process_.receive()) events.push_back(parse_json(line, "worker"));
    if (process_.exit_code()) return false;
    std::array<pollfd, 1> polls{pollfd{process_.output_descriptor(), POLLIN, 0}};
    ::poll(polls.data(), polls.size(), process_.output_descriptor() < 0 ? 2 : 100);
    return true;
  }

  LineProcess process_;
  std::size_t next_ = 0;
};

// What must not depend on how a run was carried out, to the byte.
inline std::string deterministic_part(const store::RunDirectory& directory) {
  Json metrics = Json::array();
  for (const Json& metric : directory.metrics()) metrics.push_back({metric["step"], metric["split"], metric["values"]});
  const Json values = directory.summary().value_or(Json::object()).value("values", Json());
  return Json{{"metrics", metrics}, {"values", values}}.dump() + read_file(directory.checkpoint());
}

}  // namespace mneme::testing
