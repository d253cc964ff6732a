// Options of the recurrent cells, the counting Transformer and the state-space models that change their structure.
#pragma once

#include "mixers/mixer_case.h"

namespace mneme::testing {

inline std::vector<MixerCase> recurrent_cases() {
  return {
      {"rnn", {{"nonlinearity", "relu"}, {"bias", false}}},
      {"rnn", {{"num_layers", 2}}},
      {"lstm", {{"num_layers", 2}}},
      {"lstm", {{"bias", false}}},
      {"gru", {{"num_layers", 2}}},
      {"gru", {{"bias", false}}},
      {"gru", {{"reset_before", true}}},
      {"transformer", {{"nhead", 2}, {"pos", "sincos"}, {"activation", "gelu"}}},
      {"transformer", {{"nhead", 4}, {"norm_first", true}, {"num_layers", 2}, {"dim_feedforward", 5}}},
      {"transformer", {{"causal", false}}},
  };
}

inline std::vector<MixerCase> state_space_cases() {
  return {
      {"s4d", {{"d_state", 2}}},
      {"h3", {{"head_dim", 2}, {"d_state", 6}}},
      {"h3", {{"head_dim", 4}, {"d_state", 12}, {"truncate", false}}},
  };
}

}  // namespace mneme::testing
