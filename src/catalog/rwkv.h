// Sizes of RWKV-5 and RWKV-7.
#pragma once

#include "catalog/mixer_entry.h"

namespace mneme::catalog {

// Channels of a head: the option, or 64 capped at the width if it is 0.
std::int64_t rwkv_head_size(const MixerContext& context, const Options& options, std::string_view option);

// Ranks of RWKV-7's low-rank maps; an option of 0 asks for the rule of the reference implementation.
struct Rwkv7Ranks {
  std::int64_t decay, gate, a;
  std::int64_t v;  // of the blend with the first layer's values; 0: this layer has none
};
Rwkv7Ranks rwkv7_ranks(const MixerContext& context, const Options& options);

}  // namespace mneme::catalog
