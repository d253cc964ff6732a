#include "train/objective.h"

namespace mneme {

Json Scores::json() const {
  Json values = {{"loss", loss}, {"accuracy", accuracy}, {"exact_match", exact_match}};
  for (const auto& [name, value] : extra) values[name] = value;
  return values;
}

std::unique_ptr<Objective> make_objective(const RunConfig& run, const Task& task, SequenceModel& model) {
  return run.shape.is_signal() ? make_signal_objective(run, task, model) : make_token_objective(run, task, model);
}

}  // namespace mneme
