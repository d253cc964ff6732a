#include "train/generalisation.h"

#include <cmath>

#include "catalog/test_config.h"

namespace mneme {

Json generalisation(const RunConfig& run, SequenceModel& model, const EvaluationTick& tick) {
  Json points = Json::array();
  for (const std::int64_t value : run.test.integers("values")) {
    const RunConfig there = at_test_value(run, value);
    const auto task = there.task_entry->build(there.task);
    const Scores scores =
        make_objective(there, *task, model)->evaluate(Split::test, run.test.integer("examples"), tick);
    Json point = scores.json();
    if (!std::isfinite(scores.loss)) point["loss"] = nullptr;
    point["value"] = value;
    points.push_back(std::move(point));
  }
  return {{"axis", run.test.text("along")}, {"points", points}};
}

}  // namespace mneme
