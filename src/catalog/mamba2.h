// Sizes of Mamba-2 (state space duality).
#pragma once

#include "catalog/mixer_entry.h"

namespace mneme::catalog {

struct Mamba2Widths {
  std::int64_t inner, head, heads, groups, state;  // E, P, H, G, N
  std::int64_t convolved() const { return inner + 2 * groups * state; }
};
Mamba2Widths mamba2_widths(const MixerContext& context, const Options& options);

}  // namespace mneme::catalog
