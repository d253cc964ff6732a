#include "train/evaluation.h"

#include <cmath>

#include "core/error.h"
#include "train/signals.h"

namespace mneme::train {

Json point_scores(const config::RunConfig& there, models::SequenceModel& model, std::int64_t examples, Depth depth,
                  config::Reading reading, const EvaluationTick& tick) {
  const auto task = there.task_entry->build(there.task);
  const Scores scores =
      make_objective(there, *task, model, reading)->evaluate(tasks::Split::test, examples, tick, depth);
  Json result = scores.json();
  if (!std::isfinite(scores.loss)) result["loss"] = nullptr;
  return result;
}

Json evaluate_point(const config::EvaluationPoint& point, models::SequenceModel& model, bool phases,
                    const EvaluationTick& tick) {
  Json result = point_scores(point.run, model, point.examples, Depth::detail, point.reading, tick);
  result["value"] = point.value ? Json(*point.value) : Json();
  result["length"] = point.run.shape.length;
  result["examples"] = point.examples;
  result["mode"] = point.reading == config::Reading::stepwise ? "step" : "forward";
  if (!point.notes.empty()) result["notes"] = point.notes;
  if (phases) {
    if (point.run.task_entry->name != "counting")
      throw Error(ErrorKind::usage, "evaluate",
                  "--phases: only counting has phase tests, got " + point.run.task_entry->name);
    const auto task = point.run.task_entry->build(point.run.task);
    result["phases"] = phase_results(point.run, model, *make_objective(point.run, *task, model), tick);
  }
  return result;
}

}  // namespace mneme::train
