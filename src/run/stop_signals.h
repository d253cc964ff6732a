// Ctrl-C and its relatives as something to poll for.
#pragma once

#include <signal.h>

#include <array>

namespace mneme::run {

// While alive, SIGINT, SIGTERM and SIGHUP are counted instead of ending the process; with `warnings` also SIGUSR1,
// which a cluster sends some time before it ends a job. One at a time.
class StopSignals {
 public:
  explicit StopSignals(bool warnings = false);
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  // Readable once a signal has come.
  int descriptor() const;
  // How many have come since the last call, warnings not counted.
  int take();
  // True once a warning has come, as far as take() has seen.
  bool warned() const { return warned_; }

 private:
  std::array<struct sigaction, 4> previous_{};
  std::size_t count_;
  bool warned_ = false;
};

}  // namespace mneme::run
