// dropout_mask: mask[i] = 1 / (1 - p) with probability 1 - p, else 0, for i in [0, n).
//
// A function of (key, item, i) alone: element i is decided by 16 bits of the Philox stream `item` under
// `key`, so p is honoured to 1/65536 and a mask never depends on history.
#pragma once

#include <cstddef>
#include <cstdint>

namespace mneme::kernels {

void dropout_mask(std::uint64_t key, std::uint64_t item, double p, float* mask, std::size_t count);

}  // namespace mneme::kernels
