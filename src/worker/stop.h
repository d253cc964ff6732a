// SIGTERM and SIGINT as a flag that the training loop checks.
#pragma once

namespace mneme::worker {

// The first signal sets the flag; the second ends the process at once, unless `mneme` started it (MNEME_SUPERVISED): a
// cluster signals every process of a job, `mneme` passes the signal on, and two signals then mean one request.
void install_stop_signals();
bool stop_requested();

// While alive, the first signal ends the process at once: for work that has nothing to save and does not ask.
class LeaveAtOnce {
 public:
  LeaveAtOnce();
  ~LeaveAtOnce();
  LeaveAtOnce(const LeaveAtOnce&) = delete;
  LeaveAtOnce& operator=(const LeaveAtOnce&) = delete;
};

}  // namespace mneme::worker
