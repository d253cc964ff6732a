// Options of the RWKV and delta-rule families and of hyena that change their structure.
#pragma once

#include "mixers/mixer_case.h"

namespace mneme::testing {

inline std::vector<MixerCase> delta_cases() {
  return {
      {"rwkv4_channel_mix", {{"hidden_mult", 1}}},
  };
}

}  // namespace mneme::testing
