// A trained model along the generalisation axis that its run names: test.along.
#pragma once

#include "train/objective.h"

namespace mneme::train {

// {"axis", "points": [{"value", "accuracy", "exact_match", "loss", ...}]}: the scores on the first test.examples test
// examples at each value of the axis. A model may overflow on sequences longer than any it was trained on: a loss that
// is not finite is null.
Json generalisation(const config::RunConfig& run, models::SequenceModel& model, const EvaluationTick& tick);

}  // namespace mneme::train
