// Writing in a run's directory: only the newest attempt can.
//
// attempt.json names the attempt that the directory belongs to. Every write that others can see (a rename into
// place, a line at the end of a file) happens while holding the flock of `lock`, after reading attempt.json under
// it. Taking the run over raises the number under the same lock. So a worker that was paused, cut off or
// forgotten finds another number and is refused with StaleAttempt; it cannot be between the question and the write
// when the number changes. The promise holds wherever flock does: one machine, and network disks that support it.
#pragma once

#include <memory>

#include "core/commit.h"
#include "core/error.h"
#include "store/run_directory.h"

namespace mneme::store {

// The run belongs to a newer attempt: stop, and write nothing.
class StaleAttempt : public Error {
 public:
  StaleAttempt(const Path& directory, std::int64_t ours, std::int64_t present);
};

// The run's directory was removed under its worker: nothing is left to write to.
class RunRemoved : public Error {
 public:
  explicit RunRemoved(const Path& directory);
};

class RunWriter {
 public:
  // Begins an attempt, which must be newer than any before it (else StaleAttempt), and marks this process as the
  // one that trains. Number 0: the next one, unless another process is training (Error(io)). Removes what crashed
  // writers left.
  static RunWriter begin(const RunDirectory& directory, const Json& config, std::int64_t number,
                         const std::string& holder);
  // Speaks for an attempt whose worker is gone or was never there: as begin(), but the present number will do
  // too, and no one is marked as training.
  static RunWriter speak_for(const RunDirectory& directory, std::int64_t number, const std::string& holder);

  RunWriter(RunWriter&&) noexcept;
  ~RunWriter();

  const RunDirectory& directory() const { return directory_; }
  std::int64_t number() const { return number_; }

  // For files that others write in pieces of their own, such as checkpoints.
  CommitGate gate() const;

  void write_environment(const Json& environment) const;
  void write_traces(const Json& traces) const;
  void write_summary(const Json& summary) const;
  void remove_summary() const;
  void append_metric(const Json& metric) const;
  void replace_metrics(const std::vector<Json>& metrics) const;
  // One line with the time in front; a failing disk does not stop a run over its log.
  void log(std::string_view line) const noexcept;
  void set_deaths(std::int64_t deaths) const;

 private:
  RunWriter(RunDirectory directory, std::int64_t number, std::string holder);

  // The lock without the check, and with it.
  std::shared_ptr<void> lock() const;
  std::shared_ptr<void> enter() const;
  void store_attempt(std::int64_t deaths) const;
  void append_line(const char* file, std::string line) const;

  RunDirectory directory_;
  std::int64_t number_;
  std::string holder_;
  int lock_ = -1, alive_ = -1;
};

}  // namespace mneme::store
