// Interchange interventions: a corrupted example runs with one thing of the clean one put in its place.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "inspect/recall_cases.h"
#include "models/watcher.h"

namespace mneme::inspect {

// Runs of one model on the cases. What is returned is the probability of the clean answer at the query, [N].
class Patches {
 public:
  Patches(models::SequenceModel& model, const RecallCases& cases) : model_(model), cases_(cases) {}

  torch::Tensor probabilities(const torch::Tensor& tokens);

  // Every site of the model, in the order of the forward pass.
  std::vector<models::Site> sites();

  // The corrupted tokens, with the values of the clean run at one site and kind of position. Undefined if no example
  // has such a position.
  torch::Tensor patched(const torch::Tensor& corrupted, const models::Site& site, Kind kind);

  // A part of the state of one mixer: what its recurrence carries, or the windows of its convolutions.
  struct StatePart {
    std::size_t mixer = 0;  // in the order of ModelState::mixers
    std::int64_t layer = 0;
    bool is_sequence = true, is_window = false;
    std::vector<std::size_t> tensors;
  };
  // Those that the model has; none if it has no step().
  std::vector<StatePart> state_parts() const;

  // The same for a part of the state, token by token through step(): it is that of the clean run after the key, after
  // the value, and before the query. By kind: key, value, query.
  std::array<torch::Tensor, 3> patched_states(const torch::Tensor& corrupted, const StatePart& part);

 private:
  struct Recording {
    torch::Tensor tokens;         // whose
    torch::Tensor probabilities;  // [N]
    std::vector<std::pair<models::Site, torch::Tensor>> values;
  };
  // What a run on these tokens had at a site.
  const torch::Tensor& recorded(Recording& recording, const torch::Tensor& tokens, const models::Site& site);
  torch::Tensor answer_probabilities(const torch::Tensor& at_query);  // [N, D] -> [N]

  models::SequenceModel& model_;
  const RecallCases& cases_;
  Recording clean_, corrupt_;
};

// The name of a site or of a part of the state within its layer: "mixer output", "state", "convolution's state".
std::string place_name(models::Place place);
std::string place_name(const Patches::StatePart& part);

}  // namespace mneme::inspect
