// Finding, starting and asking mneme-worker (docs/worker-protocol.md).
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "core/files.h"
#include "core/json.h"
#include "core/subprocess.h"

namespace mneme::run {

// MNEME_WORKER, else mneme-worker in the directory of this program. Throws Error(io) if it is not there.
Path find_worker();

// How a worker is started: with one thread, whatever our own environment says.
LineProcess::Options worker_options(const Path& worker);

// The event in a line of a worker. Throws Error(data) if it is not an event: something else wrote to its output.
Json parse_event(std::string_view line);

// "was killed by signal 9 (SIGKILL, out of memory?)", "ended with exit code 3".
std::string describe_exit(int exit_code);

// The last lines of a worker's standard error, as one line for a message; "" if there are none.
std::string last_words(const LineProcess& process);

// Starts a worker, sends one request and hands every event to `on_event` until the event `last`. A `failed`
// event is thrown as the Error it describes; a death is Error(io).
void ask_worker(const Path& worker, const Json& request, std::string_view last,
                const std::function<void(const Json&)>& on_event);

// The same for a worker that is already running and keeps running.
void ask_worker(LineProcess& process, const Path& worker, const Json& request, std::string_view last,
                const std::function<void(const Json&)>& on_event);

}  // namespace mneme::run
