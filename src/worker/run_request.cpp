#include "worker/run_request.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <chrono>
#include <ctime>

#include "catalog/run_config.h"
#include "core/error.h"
#include "store/run_directory.h"
#include "train/trainer.h"
#include "worker/events.h"
#include "worker/fingerprint.h"
#include "worker/stop.h"

namespace mneme {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

constexpr double kProgressPeriod = 0.25;
constexpr double kCheckpointPeriod = 20.0;
// A checkpoint may cost at most this share of the time since the last one.
constexpr double kCheckpointShare = 0.02;

// Turns what the trainer tells into files and events.
class Recorder : public TrainObserver {
 public:
  Recorder(const RunConfig& run, const RunDirectory& directory, std::int64_t first_step)
      : run_(run), directory_(directory), first_step_(first_step) {}

  void on_step(const Progress& progress) override {
    last_step_ = progress.step;
    const bool due = seconds_since(last_progress_) >= kProgressPeriod;
    if (!due && progress.step != run_.train.integer("steps")) return;
    last_progress_ = Clock::now();
    send("progress", {{"step", progress.step},
                      {"steps", run_.train.integer("steps")},
                      {"loss", progress.loss},
                      {"accuracy", progress.accuracy},
                      {"tokens_per_second", tokens_per_second()}});
  }

  void on_metric(std::int64_t step, const Json& values) override {
    const Json metric = {{"step", step},
                         {"split", "validation"},
                         {"values", values},
                         {"times", {{"seconds", seconds_since(start_)}}}};
    directory_.append_metric(metric);
    send("metric", metric);
  }

  bool wants_checkpoint() override {
    const double elapsed = seconds_since(last_checkpoint_);
    checkpoint_start_ = Clock::now();
    return elapsed >= kCheckpointPeriod && checkpoint_cost_ <= kCheckpointShare * elapsed;
  }

  void on_checkpoint(std::int64_t step) override {
    checkpoint_cost_ = seconds_since(checkpoint_start_);
    last_checkpoint_ = Clock::now();
    send("checkpoint", {{"step", step}});
  }

  bool wants_stop() override {
    checkpoint_start_ = Clock::now();
    return stop_requested();
  }

  Json times() const {
    return {{"seconds", seconds_since(start_)},
            {"tokens_per_second", tokens_per_second()},
            {"finished_at", fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)))}};
  }

  void send(const char* event, Json fields) const {
    fields["id"] = run_.id;
    send_event(event, std::move(fields));
  }

 private:
  double tokens_per_second() const {
    const double tokens = static_cast<double>((last_step_ - first_step_) * run_.train.integer("batch") * run_.shape.length);
    return tokens / std::max(seconds_since(start_), 1e-9);
  }

  const RunConfig& run_;
  const RunDirectory& directory_;
  std::int64_t first_step_, last_step_ = first_step_;
  Clock::time_point start_ = Clock::now(), last_progress_, last_checkpoint_ = start_, checkpoint_start_ = start_;
  double checkpoint_cost_ = 0;
};

// Loads the checkpoint if there is a usable one; a damaged one costs the progress, not the run.
void resume(Trainer& trainer, const RunDirectory& directory) {
  if (!std::filesystem::exists(directory.checkpoint())) return;
  try {
    trainer.restore(directory.checkpoint());
    directory.log(fmt::format("resumed from the checkpoint at step {}", trainer.position()));
  } catch (const Error& error) {
    directory.log(fmt::format("checkpoint not usable, starting over: {}", error.what()));
  }
}

Json summary_of(const RunConfig& run, const TrainResult& result, const Json& times) {
  return {{"id", run.id},
          {"outcome", result.outcome == Outcome::done ? "done" : "diverged"},
          {"reason", result.reason},
          {"values", result.values},
          {"times", times}};
}

}  // namespace

bool carry_out_run(const Json& request) {
  const RunConfig run = resolve_run(config_from_json(request.at("config"), "request"));
  const RunDirectory directory(request.at("directory").get<std::string>());
  directory.create(run.json);
  const auto lock = directory.lock();
  directory.remove_summary();
  directory.write_environment(fingerprint());
  for (const std::string& warning : run.warnings) directory.log("warning: " + warning);
  try {
    Trainer trainer(run);
    resume(trainer, directory);
    directory.keep_metrics_until(trainer.position());
    Recorder recorder(run, directory, trainer.position());
    recorder.send("started", {{"step", trainer.position()},
                              {"steps", run.train.integer("steps")},
                              {"parameters", trainer.parameters().size()},
                              {"warnings", run.warnings}});
    const TrainResult result = trainer.train(directory.checkpoint(), recorder);
    if (result.outcome == Outcome::interrupted) {
      directory.log(fmt::format("interrupted at step {}", trainer.position()));
      recorder.send("interrupted", {{"step", trainer.position()}});
      return false;
    }
    const Json summary = summary_of(run, result, recorder.times());
    directory.write_summary(summary);
    directory.log(fmt::format("{}: {}", summary["outcome"].get<std::string>(), result.reason));
    recorder.send("done", {{"summary", summary}});
  } catch (const std::exception& error) {
    directory.log(fmt::format("failed: {}", error.what()));
    throw;
  }
  return true;
}

}  // namespace mneme
