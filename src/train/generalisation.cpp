#include "train/generalisation.h"

#include "config/test_config.h"
#include "train/evaluation.h"

namespace mneme::train {

Json generalisation(const config::RunConfig& run, models::SequenceModel& model, const EvaluationTick& tick) {
  Json points = Json::array();
  for (const std::int64_t value : run.test.integers("values")) {
    const config::RunConfig there = config::at_test_value(run, value);
    Json point = point_scores(there, model, run.test.integer("examples"), Depth::scores, config::Reading::whole, tick);
    point["value"] = value;
    points.push_back(std::move(point));
  }
  return {{"axis", run.test.text("along")}, {"points", points}};
}

}  // namespace mneme::train
