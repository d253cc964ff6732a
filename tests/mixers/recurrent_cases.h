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
      {"nru", {{"memory_size", 4}, {"k", 4}}},
      {"nru", {{"memory_size", 9}, {"use_relu", true}, {"layer_norm", true}}},
      {"nru", {{"variant", "table8"}, {"memory_size", 4}}},
      {"nru", {{"variant", "eq5"}, {"memory_size", 3}}},
      {"transformer", {{"nhead", 2}, {"pos", "sincos"}, {"activation", "gelu"}}},
      {"transformer", {{"nhead", 4}, {"norm_first", true}, {"num_layers", 2}, {"dim_feedforward", 5}}},
      {"transformer", {{"causal", false}}},
  };
}

inline std::vector<MixerCase> state_space_cases() {
  return {
      {"s4d", {{"d_state", 2}}},
      {"s4", {{"d_state", 4}, {"n_ssm", 2}}},
      {"s4", {{"d_state", 6}, {"rank", 2}}},
      {"s4", {{"d_state", 4}, {"l_kernel", 3}, {"truncate", false}}},
      {"ids4", {{"d_state", 3}}},
      {"h3", {{"head_dim", 2}, {"d_state", 6}}},
      {"h3", {{"head_dim", 4}, {"d_state", 12}, {"truncate", false}}},
  };
}

}  // namespace mneme::testing
