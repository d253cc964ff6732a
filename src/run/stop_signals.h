// Ctrl-C and its relatives as something to poll for.
#pragma once

#include <signal.h>

#include <array>

namespace mneme::run {

// While alive, SIGINT, SIGTERM and SIGHUP are counted instead of ending the process. One at a time.
class StopSignals {
 public:
  StopSignals();
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  // Readable once a signal has come.
  int descriptor() const;
  // How many have come since the last call.
  int take();

 private:
  std::array<struct sigaction, 3> previous_{};
};

}  // namespace mneme::run
