// A trained model on other data than its run's (config/evaluation.h).
#pragma once

#include <functional>

#include "config/evaluation.h"
#include "train/objective.h"

namespace mneme::train {

// {"loss", "accuracy", "exact_match", ...} of a model on the first `examples` of the test split, as far as `depth`
// asks. A model may overflow on sequences longer than any it was trained on: a loss that is not finite is null.
Json point_scores(const config::RunConfig& there, models::SequenceModel& model, std::int64_t examples, Depth depth,
                  config::Reading reading, const EvaluationTick& tick);

// {"value", "length", "examples", "mode", "notes" and the scores, with the task's metrics by position and distance} at
// one point. With `phases`, on the counting task: its phase tests, with the timing of this point.
Json evaluate_point(const config::EvaluationPoint& point, models::SequenceModel& model, bool phases,
                    const EvaluationTick& tick);

}  // namespace mneme::train
