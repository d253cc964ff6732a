#include "run/stop_signals.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "core/error.h"

namespace mneme::run {
namespace {

constexpr std::array<int, 4> kSignals{SIGINT, SIGTERM, SIGHUP, SIGUSR1};

// A handler may do little else than write; the pipe also wakes poll() without a race.
std::array<int, 2> wake_pipe{-1, -1};

void on_signal(int number) {
  const int saved = errno;
  const char byte = static_cast<char>(number);
  [[maybe_unused]] const auto written = ::write(wake_pipe[1], &byte, 1);
  errno = saved;
}

}  // namespace

StopSignals::StopSignals(bool warnings) : count_(kSignals.size() - (warnings ? 0 : 1)) {
  require(wake_pipe[0] < 0, "one StopSignals at a time");
  if (::pipe2(wake_pipe.data(), O_CLOEXEC | O_NONBLOCK) != 0) throw Error(ErrorKind::io, "pipe", std::strerror(errno));
  struct sigaction action {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;
  for (std::size_t i = 0; i < count_; ++i) ::sigaction(kSignals[i], &action, &previous_[i]);
}

StopSignals::~StopSignals() {
  for (std::size_t i = 0; i < count_; ++i) ::sigaction(kSignals[i], &previous_[i], nullptr);
  for (int& end : wake_pipe) {
    ::close(end);
    end = -1;
  }
}

int StopSignals::descriptor() const { return wake_pipe[0]; }

int StopSignals::take() {
  int count = 0;
  for (char byte; ::read(wake_pipe[0], &byte, 1) == 1;) {
    if (byte == SIGUSR1)
      warned_ = true;
    else
      ++count;
  }
  return count;
}

}  // namespace mneme::run
