#include "run/worker.h"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <string.h>

#include <array>
#include <cstdlib>
#include <filesystem>

#include "core/error.h"
#include "core/shortage.h"
#include "core/text.h"

namespace mneme::run {

Path find_worker() {
  if (const char* chosen = std::getenv("MNEME_WORKER"); chosen && *chosen) {
    if (!program_exists(chosen))
      throw Error(ErrorKind::io, "MNEME_WORKER", fmt::format("got '{}', expected an executable mneme-worker", chosen));
    return chosen;
  }
  std::error_code ignored;
  const Path worker = std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path() / "mneme-worker";
  if (!program_exists(worker.string()))
    throw Error(
        ErrorKind::io, worker.string(),
        "mneme-worker is missing, expected it in the directory of mneme; build it, or set MNEME_WORKER to its path");
  return worker;
}

LineProcess::Options worker_options(const Path& worker) {
  return {.argv = {worker.string()},
          .environment = {"OMP_NUM_THREADS=1", "OPENBLAS_NUM_THREADS=1", "MKL_NUM_THREADS=1", "MNEME_SUPERVISED=1"},
          .own_group = true};
}

Json parse_event(std::string_view line) {
  Json event = parse_json(line, "worker");
  if (!event.is_object() || !event.contains("event") || !event["event"].is_string())
    throw Error(ErrorKind::data, "worker", fmt::format("got the line {}, expected an event", line.substr(0, 100)));
  return event;
}

std::string describe_exit(int exit_code) {
  if (exit_code <= 128) return fmt::format("ended with exit code {}", exit_code);
  const int number = exit_code - 128;
  const char* name = ::sigabbrev_np(number);
  return fmt::format("was killed by signal {} (SIG{}{})", number, name ? name : "?",
                     number == SIGKILL ? ", out of memory?" : "");
}

std::string last_words(const LineProcess& process) {
  std::vector<std::string> lines;
  for (const std::string& line : split(process.error_tail(), '\n'))
    if (line.find_first_not_of(" \t\r") != line.npos) lines.push_back(line);
  constexpr std::size_t kLines = 3;
  if (lines.size() > kLines) lines.erase(lines.begin(), lines.end() - kLines);
  return join(lines, " | ");
}

namespace {

// Hands events on until the last one.
void await(LineProcess& process, const Path& worker, std::string_view last,
           const std::function<void(const Json&)>& on_event) {
  for (;;) {
    for (const std::string& line : process.receive()) {
      const Json event = parse_event(line);
      if (event["event"] == "failed")
        throw ShortageError(shortage_named(event.value("shortage", "")), static_cast<ErrorKind>(event.value("kind", 1)),
                            "", event.value("message", "the worker failed"));
      on_event(event);
      if (event["event"] == last) return;
    }
    if (const auto code = process.exit_code())
      throw Error(ErrorKind::io, worker.string(),
                  fmt::format("the worker {} before it answered{}{}", describe_exit(*code),
                              last_words(process).empty() ? "" : "; ", last_words(process)));
    std::array<pollfd, 2> polls{pollfd{process.output_descriptor(), POLLIN, 0},
                                pollfd{process.error_descriptor(), POLLIN, 0}};
    ::poll(polls.data(), polls.size(), process.output_descriptor() < 0 ? 10 : 1000);
  }
}

}  // namespace

void ask_worker(const Path& worker, const Json& request, std::string_view last,
                const std::function<void(const Json&)>& on_event) {
  LineProcess process(worker_options(worker));
  process.send(request.dump());
  process.close_input();
  await(process, worker, last, on_event);
}

void ask_worker(LineProcess& process, const Path& worker, const Json& request, std::string_view last,
                const std::function<void(const Json&)>& on_event) {
  process.send(request.dump());
  await(process, worker, last, on_event);
}

}  // namespace mneme::run
