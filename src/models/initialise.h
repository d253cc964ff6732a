// Initialisation schemes for whole models.
//
//   zoology: every Linear N(0, 0.02^2) with zero bias, Embeddings N(0, 0.02^2); then every parameter whose
//            name contains out_proj.weight or fc2.weight is redrawn N(0, (0.02 / sqrt(2 layers))^2), which
//            in a GLU hits the gate (fc2), as in the reference
//   torch:   Linear weight and bias U(+-1/sqrt(in)), Embeddings N(0, 1)
// LayerNorm is 1 and 0; modules that are SelfInitialised follow their own rule, under both schemes.
#pragma once

#include <string_view>

#include "mixers/draw.h"

namespace mneme {

void initialise(torch::nn::Module& model, std::string_view scheme, std::int64_t layers, const Draw& draw);

}  // namespace mneme
