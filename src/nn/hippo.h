// The HiPPO-LegS matrix in the normal-plus-low-rank form from which S4 starts.
#pragma once

#include "ops/torch.h"

namespace mneme::nn {

// Of the N eigenvalues -1/2 + i * frequency of A + P P^T the N/2 with negative frequency, most negative first, and
// the vectors B and P in the basis of their eigenvectors, whose first components are real and positive.
struct HippoLegS {
  torch::Tensor frequency;  // [N/2] float64
  torch::Tensor B, P;       // [N/2] complex128; B is not clipped
};

HippoLegS hippo_legs(std::int64_t N);

}  // namespace mneme::nn
