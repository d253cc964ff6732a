// Options of the RWKV and delta-rule families and of hyena that change their structure.
#pragma once

#include "mixers/mixer_case.h"

namespace mneme::testing {

inline std::vector<MixerCase> delta_cases() {
  return {
      {"rwkv4_channel_mix", {{"hidden_mult", 1}}},
      {"deltanet", {{"num_heads", 1}, {"use_gate", true}, {"conv_bias", true}, {"allow_neg_eigval", true}}},
      {"deltanet", {{"use_short_conv", false}, {"use_beta", false}, {"qk_activation", "identity"}}},
      {"deltanet",
       {{"qk_activation", "elu"}, {"qk_norm", "sum"}, {"expand_k", 0.5}, {"expand_v", 1.5}, {"conv_size", 3}}},
      {"deltanet", {{"qk_activation", "relu"}}},
      {"gated_deltanet", {{"num_heads", 1}, {"head_dim", 5}, {"expand_v", 1.0}, {"use_gate", false}}},
      {"gated_deltanet", {{"num_v_heads", 4}, {"use_short_conv", false}, {"allow_neg_eigval", true}}},
      {"deltaproduct",
       {{"num_householder", 3},
        {"use_forget_gate", false},
        {"use_output_gate", false},
        {"head_dim", 3},
        {"expand_v", 1.0}}},
      {"deltaproduct", {{"num_householder", 1}, {"allow_neg_eigval", false}, {"conv_bias", true}, {"conv_size", 2}}},
      {"rwkv5", {{"head_size", 4}, {"head_size_divisor", 2.0}}},
      {"rwkv5", {{"head_size", 2}}},
      {"rwkv7", {{"head_dim", 4}, {"decay_low_rank_dim", 2}, {"gate_low_rank_dim", 3}, {"a_low_rank_dim", 5}}},
      {"hyena",
       {{"filter_order", 6}, {"emb_dim", 5}, {"num_inner_mlps", 0}, {"short_filter_order", 4}, {"normalized", true}}},
      {"hyena", {{"filter_order", 6}, {"num_inner_mlps", 1}, {"modulate", false}, {"bias", false}}},
      {"hyena", {{"filter_order", 6}, {"w", 3.0}, {"shift", 0.1}, {"short_filter_order", 1}}},
  };
}

}  // namespace mneme::testing
