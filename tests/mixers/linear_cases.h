// Options of Mamba, linear attention and their relatives that change their structure.
#pragma once

#include "mixers/mixer_case.h"

namespace mneme::testing {

inline std::vector<MixerCase> linear_cases() {
  return {
      {"mamba", {{"conv", false}}},
      {"mamba", {{"gate", false}, {"conv_bias", false}}},
      {"mamba", {{"bias", true}, {"dt_rank", 3}, {"d_state", 5}, {"d_conv", 3}, {"expand", 3}}},
      {"mamba", {{"d_conv", 1}, {"d_state", 20}, {"keep_dt_init", false}}},
      {"s6", {{"bias", true}, {"d_state", 3}}},
      {"mamba2", {{"headdim", 4}, {"d_state", 6}, {"ngroups", 2}}},
      {"mamba2", {{"headdim", 4}, {"d_state", 5}, {"ngroups", 2}, {"norm_group_size", "d_inner"}, {"bias", true}}},
      {"mamba2",
       {{"headdim", 8}, {"d_state", 3}, {"D_has_hdim", true}, {"norm_before_gate", true}, {"conv_bias", false}}},
      {"mamba2", {{"headdim", 2}, {"d_state", 4}, {"d_conv", 1}, {"expand", 1}}},
      {"linear_attention", {{"num_heads", 2}, {"do_feature_map_norm", true}, {"output_norm", "identity"}}},
      {"linear_attention", {{"num_heads", 1}, {"feature_map", "identity"}, {"expand_k", 0.5}, {"expand_v", 2.0}}},
      {"linear_attention", {{"num_heads", 2}, {"feature_map", "relu"}, {"norm_q", true}, {"norm_k", true}}},
      {"linear_attention", {{"num_heads", 2}, {"feature_map", "elementwise_product"}, {"elementwise_affine", false}}},
      {"retnet", {{"num_heads", 2}, {"use_output_gate", false}, {"expand_v", 1.0}}},
      {"retnet", {{"num_heads", 2}, {"use_short_conv", true}, {"conv_bias", true}, {"fuse_norm", false}}},
      {"retnet", {{"num_heads", 4}, {"num_kv_heads", 2}, {"feature_map", "silu"}, {"gate_fn", "sigmoid"}}},
      {"gla", {{"num_heads", 1}, {"use_output_gate", false}, {"gate_low_rank_dim", 4}, {"gate_logit_normalizer", 1}}},
      {"gla", {{"num_heads", 2}, {"use_short_conv", true}, {"conv_size", 3}, {"elementwise_affine", false}}},
      {"gla", {{"num_heads", 4}, {"num_kv_heads", 2}, {"expand_k", 1.0}, {"clamp_min", -0.05}}},
      {"based", {{"num_heads", 2}, {"feature_dim", 3}, {"train_view", "quadratic"}}},
      {"based", {{"num_heads", 1}, {"feature_dim", 8}, {"eps", 1e-6}}},
      {"base_conv", {{"kernel_size", -1}}},
      {"base_conv", {{"kernel_size", -1}, {"implicit_long_conv", false}, {"use_act", true}}},
      {"base_conv", {{"kernel_size", Json::array({4, -1})}, {"use_act", true}}},
  };
}

}  // namespace mneme::testing
