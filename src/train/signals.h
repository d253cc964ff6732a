// What a trained model does with single signals: the phase tests, and traces to draw.
#pragma once

#include "train/objective.h"

namespace mneme::train {

// On the counting task: {"offset", "offset_passed"} on 200 test signals of the objective, and whether each of
// phase_tests() is passed.
Json phase_results(const config::RunConfig& run, models::SequenceModel& model, Objective& objective,
                   const EvaluationTick& tick);

// {"signals": [{"name", "input", "target", "output"}]}: the first test.traces test signals ("test 0", ...) and, with
// test.phases, the signal of each phase test.
Json traces(const config::RunConfig& run, const tasks::Task& task, models::SequenceModel& model);

}  // namespace mneme::train
