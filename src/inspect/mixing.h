// The mixing matrix of every mixer of a model, exact.
//
// Where values enter linearly, o_t = sum_s M_ts v_s channel by channel, with everything else (queries, keys, gates,
// decays, the removal of keys) as it is for this input. A mixer says what its values and what it mixed are
// (ops/tap.h); M is then the derivative of the one by the other, which is exact for a linear function. Where nothing
// enters linearly, M_ts is |d y_t / d x_s|, the Frobenius norm over channels of the derivative of the mixer's output
// by its input.
#pragma once

#include <string>
#include <vector>

#include "inspect/subject.h"

namespace mneme::inspect {

struct Mixing {
  std::string module;      // its name in the model
  std::int64_t layer = 0;  // 0-based
  bool linear = false;     // else a norm of derivatives
  bool convolved = false;  // of the values before their short convolution: through it, and the SiLU after it
  // |M|, mean over the channels of each head: [H, L, L], rows t, columns s. Mixers without heads have one.
  torch::Tensor size;
  // M, mean over the channels of each head; undefined unless linear.
  torch::Tensor mean;
  // max |M v + o_0 - o| over max |o|, o_0 what zero values give (a bias); 0 for what is not checked.
  double error = 0;
};

// In the order in which the mixers are applied. `input` is one example, [1, L].
std::vector<Mixing> mixing_matrices(const Subject& subject, const torch::Tensor& input);

// The same for the first examples, computed once: of at most 4, or 2 where derivatives of every channel are needed.
const std::vector<std::vector<Mixing>>& matrices_of(const Subject& subject, const Examples& examples);

}  // namespace mneme::inspect
