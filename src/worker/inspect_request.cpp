#include "worker/inspect_request.h"

#include <fmt/format.h>

#include "catalog/analyses.h"
#include "catalog/python_store.h"
#include "core/error.h"
#include "core/timing.h"
#include "inspect/list.h"
#include "store/run_directory.h"
#include "train/weights.h"
#include "worker/events.h"

namespace mneme::worker {
namespace {

inspect::Subject trained(const config::RunConfig& run, const store::RunDirectory& directory) {
  const train::CheckpointFiles files(directory.checkpoint(), directory.previous_checkpoint(), directory.kept_weights(),
                                     {});
  const train::TrainedModel newest = train::trained_model(run, files);
  inspect::Subject subject(run, newest.model, newest.step);
  std::vector<std::int64_t> earlier = directory.kept_steps();
  std::erase_if(earlier, [&](std::int64_t step) { return step >= newest.step; });
  subject.set_kept(std::move(earlier),
                   [&run, files](std::int64_t step) { return train::trained_model(run, files, step).model; });
  return subject;
}

}  // namespace

void carry_out_inspect(const Json& request) {
  const store::RunDirectory directory(request.at("directory").get<std::string>());
  catalog::also_look_in(directory.path() / "python");
  const config::RunConfig run = config::resolve_run(config_from_json(directory.config(), "config.json"));
  const inspect::Subject subject = trained(run, directory);
  const auto count = request.value("examples", std::int64_t{16});
  if (count < 1) throw Error(ErrorKind::usage, "examples", fmt::format("got {}, expected 1 or more", count));
  const inspect::Examples examples = subject.examples(count);
  send_event("inspecting", {{"run", run.id}, {"step", subject.step()}, {"examples", count}});
  for (const Json& what : request.at("what")) {
    const catalog::AnalysisEntry& entry = catalog::find_analysis(what.get<std::string>(), "what");
    const double before = now(Clock::thread);
    Json result = inspect::analysis_function(entry.name)(subject, examples);
    send_event(
        "inspected",
        {{"analysis", entry.name}, {"result", std::move(result)}, {"thread_seconds", now(Clock::thread) - before}});
  }
  send_event("finished");
}

}  // namespace mneme::worker
