#include "worker/run_request.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <chrono>
#include <ctime>
#include <limits>
#include <map>
#include <optional>

#include "catalog/python_store.h"
#include "config/run_config.h"
#include "core/autopsy.h"
#include "core/code_identity.h"
#include "core/error.h"
#include "core/timing.h"
#include "store/run_code.h"
#include "store/run_writer.h"
#include "train/checkpoint_clock.h"
#include "train/trainer.h"
#include "worker/events.h"
#include "worker/failure.h"
#include "worker/fingerprint.h"
#include "worker/stop.h"

namespace mneme::worker {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr double kProgressPeriod = 0.25;

// Turns what the trainer tells into files and events.
class Recorder : public train::TrainObserver {
 public:
  // `seconds` is what earlier processes spent on the run.
  Recorder(const config::RunConfig& run, const store::RunWriter& writer, std::int64_t first_step, double seconds,
           const train::CheckpointClock& clock)
      : run_(run), writer_(writer), first_step_(first_step), earlier_(seconds), clock_(clock) {}

  void on_step(const train::Progress& progress) override {
    spend(training_);
    last_ = progress;
    tell_progress(progress.step == run_.train.integer("steps"));
    spend(recording_);
  }

  void on_evaluating() override {
    spend(evaluation_);
    tell_progress(false);
    spend(recording_);
  }

  void on_metric(std::int64_t step, const Json& values) override {
    spend(evaluation_);
    const Json metric = {
        {"step", step},
        {"split", "validation"},
        {"values", values},
        {"times", {{"seconds", earlier_ + seconds_since(start_)}, {"step_seconds", step_seconds(step)}}}};
    writer_.append_metric(metric);
    send("metric", metric);
    spend(recording_);
  }

  bool wants_checkpoint() override { return clock_.due(seconds_since(start_)); }

  void on_checkpoint(std::int64_t step, double seconds) override {
    const double now = seconds_since(start_);
    clock_.saved(now - seconds, now);
    send("checkpoint", {{"step", step}, {"seconds", seconds}});
    spend(checkpoints_);
  }

  bool wants_stop() override { return stop_requested(); }

  Json times() {
    spend(evaluation_);  // the last test
    return {{"seconds", earlier_ + seconds_since(start_)},
            {"training_seconds", training_.wall},
            {"training_processor_seconds", training_.processor},
            {"evaluation_seconds", evaluation_.wall},
            {"recording_seconds", recording_.wall},
            {"checkpoints", clock_.count()},
            {"checkpoint_seconds", clock_.spent()},
            {"tokens_per_second", tokens_per_second()},
            {"training_tokens_per_second", tokens() / std::max(training_.processor, 1e-9)},
            {"finished_at", fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)))}};
  }

  void send(const char* event, Json fields) const {
    fields["id"] = run_.id;
    send_event(event, std::move(fields));
  }

 private:
  struct Spent {
    double wall = 0, processor = 0;  // seconds
  };

  // Adds the time since the last call to an account.
  void spend(Spent& account) {
    account.wall += seconds_since(mark_);
    mark_ = SteadyClock::now();
    const double processor = now(Clock::thread);
    account.processor += processor - processor_mark_;
    processor_mark_ = processor;
  }

  void tell_progress(bool due) {
    if (!due && seconds_since(last_progress_) < kProgressPeriod) return;
    last_progress_ = SteadyClock::now();
    send("progress", {{"step", last_.step},
                      {"steps", run_.train.integer("steps")},
                      {"loss", last_.loss},
                      {"accuracy", last_.accuracy},
                      {"tokens_per_second", tokens_per_second()}});
  }

  // Mean time of a step since the evaluation before: training alone, without evaluations and checkpoints.
  Json step_seconds(std::int64_t step) {
    const std::int64_t steps = step - timed_step_;
    const double seconds = training_.wall - timed_training_;
    timed_step_ = step;
    timed_training_ = training_.wall;
    return steps > 0 ? Json(seconds / static_cast<double>(steps)) : Json();
  }

  // Trained on by this process.
  double tokens() const {
    return static_cast<double>((last_.step - first_step_) * run_.train.integer("batch") * run_.shape.length);
  }
  double tokens_per_second() const { return tokens() / std::max(seconds_since(start_), 1e-9); }

  const config::RunConfig& run_;
  const store::RunWriter& writer_;
  std::int64_t first_step_;
  train::Progress last_{.step = first_step_};
  double earlier_;
  train::CheckpointClock clock_;
  SteadyClock::time_point start_ = SteadyClock::now(), last_progress_, mark_ = start_;
  std::int64_t timed_step_ = first_step_;  // up to where step_seconds() has told
  double timed_training_ = 0;
  double processor_mark_ = now(Clock::thread);
  Spent training_, evaluation_, recording_, checkpoints_;  // of this process
};

// The metrics up to the checkpoint, as it remembers them; their times from the file, where they survived.
// Returns the seconds that the run had taken by then.
double restore_metrics(const train::Trainer& trainer, const store::RunWriter& writer) {
  std::map<std::int64_t, Json> times;
  try {
    for (const Json& metric : writer.directory().metrics()) times[metric.at("step")] = metric.at("times");
  } catch (const std::exception& error) {
    writer.log(fmt::format("metrics.jsonl was damaged; rebuilt it from the checkpoint: {}", error.what()));
  }
  std::vector<Json> metrics;
  double seconds = 0;
  for (const Json& metric : trainer.metrics()) {
    const Json time = times.contains(metric["step"]) ? times[metric["step"]] : Json::object();
    seconds = std::max(seconds, time.value("seconds", 0.0));
    metrics.push_back(
        {{"step", metric["step"]}, {"split", "validation"}, {"values", metric["values"]}, {"times", time}});
  }
  if (!times.empty() || !metrics.empty()) writer.replace_metrics(metrics);
  return seconds;
}

Json summary_of(const config::RunConfig& run, const train::TrainResult& result, const Json& times) {
  return {{"id", run.id},
          {"outcome", result.outcome == train::Outcome::done ? "done" : "diverged"},
          {"reason", result.reason},
          {"values", result.values},
          {"times", times}};
}

train::CheckpointClock clock_of(const Json& request, std::int64_t bytes) {
  if (!request.contains("checkpoint_seconds")) return train::CheckpointClock(bytes);
  return train::CheckpointClock(bytes, request["checkpoint_seconds"], std::numeric_limits<double>::infinity());
}

// What a run that failed has of its last steps, if it can still be written.
void keep_last_steps(const std::optional<train::Trainer>& trainer, const std::string& run,
                     const store::RunWriter& writer) {
  if (!trainer || trainer->trace().steps.empty()) return;
  try {
    save_autopsy(writer.directory().autopsy(), trainer->trace(), run, {.gate = writer.gate()});
  } catch (const std::exception& error) {
    writer.log(fmt::format("the last steps are not written: {}", error.what()));
  }
}

}  // namespace

bool carry_out_run(const Json& request) {
  const store::RunDirectory directory(request.at("directory").get<std::string>());
  // A run that goes on has the sources of its Python mixers with it.
  catalog::also_look_in(directory.path() / "python");
  const config::RunConfig run = config::resolve_run(config_from_json(request.at("config"), "request"));
  const store::RunWriter writer =
      store::RunWriter::begin(directory, run.json(), request.value("attempt", std::int64_t{0}),
                              request.value("holder", "a worker started by hand"));
  writer.remove_summary();
  const Json environment = store::environment_for(directory, fingerprint(run.train.text("device")));
  if (environment.contains("earlier") && environment["earlier"].front().value("code", "") != this_code().build)
    writer.log(fmt::format("resumes with {}; it was started with {}", describe(this_code()),
                           describe(store::codes_of(directory).front())));
  writer.write_environment(environment);
  for (const config::MixerConfig& mixer : run.mixers)
    if (mixer.entry->python) catalog::keep_class(*mixer.entry->python, directory.path() / "python");
  for (const std::string& warning : run.warnings) writer.log("warning: " + warning);
  std::optional<train::Trainer> training;
  try {
    train::Trainer& trainer = training.emplace(run);
    const train::CheckpointFiles files(directory.checkpoint(), directory.previous_checkpoint(),
                                       directory.kept_weights(), writer.gate());
    for (const std::string& note : trainer.recover(files).notes) writer.log(note);
    const double seconds = restore_metrics(trainer, writer);
    Recorder recorder(run, writer, trainer.position(), seconds, clock_of(request, trainer.checkpoint_bytes()));
    recorder.send("started", {{"step", trainer.position()},
                              {"steps", run.train.integer("steps")},
                              {"parameters", trainer.parameters().size()},
                              {"warnings", run.warnings}});
    const train::TrainResult result = trainer.train(files, recorder);
    if (result.outcome == train::Outcome::interrupted) {
      writer.log(fmt::format("interrupted at step {}", trainer.position()));
      recorder.send("interrupted", {{"step", trainer.position()}});
      return false;
    }
    if (!result.traces.is_null()) writer.write_traces(result.traces);
    save_autopsy(directory.autopsy(), trainer.trace(), run.id, {.gate = writer.gate()});
    const Json summary = summary_of(run, result, recorder.times());
    writer.write_summary(summary);
    writer.log(fmt::format("{}: {}", summary["outcome"].get<std::string>(), result.reason));
    recorder.send("done", {{"summary", summary}});
  } catch (const store::RunRemoved& error) {
    send_event("removed", {{"id", run.id}, {"message", error.what()}});
  } catch (const store::StaleAttempt& error) {
    send_event("lost", {{"id", run.id}, {"message", error.what()}});
  } catch (const std::exception& error) {
    writer.log(fmt::format("failed: {}", failure_of(error).message));
    keep_last_steps(training, run.id, writer);
    throw;
  }
  return true;
}

}  // namespace mneme::worker
