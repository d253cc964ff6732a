#include "worker/evaluate_request.h"

#include <chrono>
#include <ctime>

#include "catalog/python_store.h"
#include "core/code_identity.h"
#include "core/timing.h"
#include "store/run_directory.h"
#include "train/evaluation.h"
#include "train/weights.h"
#include "worker/events.h"
#include "worker/memory_peak.h"

namespace mneme::worker {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr double kProgressPeriod = 0.25;

config::EvaluationRequest asked_of(const Json& request) {
  return {.task = request.value("task", Json::object()),
          .along = request.value("along", ""),
          .values = request.value("values", std::vector<std::int64_t>{}),
          .examples = request.value("examples", std::int64_t{0}),
          .reading = config::parse_reading(request.value("mode", "auto"))};
}

// Scores of one point, and what they cost.
struct Measured {
  Json values, times;
};

Measured measure(const config::EvaluationPoint& point, models::SequenceModel& model, bool phases,
                 const train::EvaluationTick& tick) {
  forget_peak();
  const double before = held_bytes();
  const auto start = SteadyClock::now();
  const std::clock_t processor = std::clock();
  Measured result{train::evaluate_point(point, model, phases, tick), {}};
  const double seconds = seconds_since(start),
               tokens = static_cast<double>(point.examples) * static_cast<double>(point.run.shape.length);
  result.times = {{"seconds", seconds},
                  {"processor_seconds", static_cast<double>(std::clock() - processor) / CLOCKS_PER_SEC},
                  {"tokens_per_second", tokens / std::max(seconds, 1e-9)},
                  {"peak_bytes", peak_bytes()},
                  {"working_bytes", std::max(peak_bytes() - before, 0.0)}};
  return result;
}

}  // namespace

void carry_out_evaluate(const Json& request) {
  const store::RunDirectory directory(request.at("directory").get<std::string>());
  catalog::also_look_in(directory.path() / "python");
  const config::RunConfig run =
      config::resolve_run(config_from_json(directory.config(), (directory.path() / "config.json").string()));
  const config::EvaluationRequest asked = asked_of(request);
  std::optional<std::int64_t> kept;
  if (const Json step = request.value("kept", Json()); !step.is_null()) kept = step.get<std::int64_t>();
  const train::TrainedModel trained = train::trained_model(
      run, {directory.checkpoint(), directory.previous_checkpoint(), directory.kept_weights(), {}}, kept);
  const bool phases = request.value("phases", false);
  const auto points = config::plan_evaluation(run, asked, trained.model->has_step());
  Json values = Json::array(), times = Json::array();
  auto last = SteadyClock::now();
  const auto start = last;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const Measured point = measure(points[i], *trained.model, phases, [&] {
      if (seconds_since(last) < kProgressPeriod) return;
      last = SteadyClock::now();
      send_event("progress", {{"id", run.id}, {"point", i}, {"points", points.size()}});
    });
    send_event("point", {{"id", run.id}, {"values", point.values}, {"times", point.times}});
    values.push_back(point.values);
    times.push_back(point.times);
  }
  send_event("evaluated", {{"id", run.id},
                           {"result",
                            {{"run", run.id},
                             {"step", trained.step},
                             {"values", {{"axis", asked.along}, {"points", values}}},
                             {"times", {{"seconds", seconds_since(start)}, {"points", times}}},
                             {"code", {{"mneme", this_code().version}, {"code", this_code().build}}}}}});
}

}  // namespace mneme::worker
