#include "worker/stop.h"

#include <signal.h>
#include <unistd.h>

#include <cstdlib>

namespace mneme::worker {
namespace {

volatile sig_atomic_t requested = 0, at_once = 0, supervised = 0;

void on_signal(int) {
  if ((requested && !supervised) || at_once) ::_exit(130);
  requested = 1;
}

}  // namespace

void install_stop_signals() {
  supervised = std::getenv("MNEME_SUPERVISED") != nullptr ? 1 : 0;
  struct sigaction action {};
  action.sa_handler = on_signal;
  // No SA_RESTART: a worker that waits for its next request wakes up and leaves.
  sigaction(SIGTERM, &action, nullptr);
  sigaction(SIGINT, &action, nullptr);
}

LeaveAtOnce::LeaveAtOnce() {
  at_once = 1;
  // One that came before.
  if (requested) ::_exit(130);
}
LeaveAtOnce::~LeaveAtOnce() { at_once = 0; }

bool stop_requested() { return requested != 0; }

}  // namespace mneme::worker
