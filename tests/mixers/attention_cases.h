// Options of attention and of the state mixers that change their structure.
#pragma once

#include "mixers/mixer_case.h"

namespace mneme::testing {

inline std::vector<MixerCase> attention_cases() {
  std::vector<MixerCase> list = {
      {"attention", {{"num_heads", 2}, {"bias", false}}},
      {"attention", {{"num_heads", 2}, {"rope", true}, {"rope_pct", 0.5}}},
      {"attention", {{"conv_on", "kv"}, {"conv_place", "post"}, {"conv_kernel", 4}, {"conv_bias", false}}},
      {"attention", {{"conv_on", "v"}, {"conv_pad", "same"}, {"conv_kernel", 5}}},
  };
  for (const char* streams : {"q", "k", "v", "qkv"}) list.push_back({"attention", {{"conv_on", streams}}});
  return list;
}

inline std::vector<MixerCase> state_mixer_cases() {
  return {
      {"mlp", {{"hidden_mult", 1}, {"activation", "silu"}}},
      {"glu", {{"hidden_mult", 2}, {"activation", "relu"}}},
  };
}

}  // namespace mneme::testing
