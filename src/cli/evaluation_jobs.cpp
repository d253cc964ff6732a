#include "cli/evaluation_jobs.h"

#include <algorithm>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>

#include "core/error.h"
#include "run/worker.h"

namespace mneme::cli {
namespace {

// Asks a worker, which lives as long as it answers: after a death the next run gets a new one.
EvaluatedRun ask(std::unique_ptr<LineProcess>& process, const Path& worker, Json request, const std::string& id,
                 const store::Lab& lab) {
  EvaluatedRun run{.id = id, .result = {}, .failure = {}, .exit_code = 0};
  request["request"] = "evaluate";
  request["directory"] = lab.run(id).path().string();
  try {
    if (!process) process = std::make_unique<LineProcess>(run::worker_options(worker));
    run::ask_worker(*process, worker, request, "evaluated", [&](const Json& event) {
      if (event.at("event") == "evaluated") run.result = event.at("result");
    });
  } catch (const Error& error) {
    run.failure = error.what();
    run.exit_code = error.exit_code();
    process.reset();
  }
  return run;
}

}  // namespace

void evaluate_runs(const std::vector<std::string>& ids, const Json& request, const store::Lab& lab, int jobs,
                   const std::function<void(const EvaluatedRun&)>& on_end) {
  const Path worker = run::find_worker();
  std::mutex mutex;
  std::size_t next = 0;
  std::exception_ptr thrown;
  const auto work = [&] {
    std::unique_ptr<LineProcess> process;
    for (;;) {
      std::string id;
      {
        const std::lock_guard lock(mutex);
        if (next == ids.size() || thrown) return;
        id = ids[next++];
      }
      const EvaluatedRun run = ask(process, worker, request, id, lab);
      const std::lock_guard lock(mutex);
      try {
        on_end(run);
      } catch (...) {
        if (!thrown) thrown = std::current_exception();
      }
    }
  };
  std::vector<std::thread> threads;
  const auto count = std::min(ids.size(), static_cast<std::size_t>(std::max(jobs, 1)));
  for (std::size_t i = 0; i < count; ++i) threads.emplace_back(work);
  for (std::thread& thread : threads) thread.join();
  if (thrown) std::rethrow_exception(thrown);
}

}  // namespace mneme::cli
