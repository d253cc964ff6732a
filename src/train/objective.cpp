#include "train/objective.h"

namespace mneme::train {

Json Scores::json() const {
  Json values = {{"loss", loss}, {"accuracy", accuracy}, {"exact_match", exact_match}};
  for (const auto& [name, value] : extra) values[name] = value;
  values.update(detail);
  return values;
}

std::unique_ptr<Objective> make_objective(const config::RunConfig& run, const tasks::Task& task,
                                          models::SequenceModel& model, config::Reading reading) {
  return run.shape.is_signal() ? make_signal_objective(run, task, model, reading)
                               : make_token_objective(run, task, model, reading);
}

}  // namespace mneme::train
