#include "train/generalisation.h"

#include <cmath>

#include "config/test_config.h"

namespace mneme::train {

Json generalisation(const config::RunConfig& run, models::SequenceModel& model, const EvaluationTick& tick) {
  Json points = Json::array();
  for (const std::int64_t value : run.test.integers("values")) {
    const config::RunConfig there = config::at_test_value(run, value);
    const auto task = there.task_entry->build(there.task);
    const Scores scores =
        make_objective(there, *task, model)->evaluate(tasks::Split::test, run.test.integer("examples"), tick);
    Json point = scores.json();
    if (!std::isfinite(scores.loss)) point["loss"] = nullptr;
    point["value"] = value;
    points.push_back(std::move(point));
  }
  return {{"axis", run.test.text("along")}, {"points", points}};
}

}  // namespace mneme::train
