#include "ops/matrix_step.h"

#include "kernels/scan/token_step.h"
#include "ops/next_state.h"
#include "ops/tensors.h"

namespace mneme::ops {

torch::Tensor matrix_step(torch::Tensor& S, const torch::Tensor& q, const torch::Tensor& k, const torch::Tensor& v,
                          const torch::Tensor& decay, const torch::Tensor& beta) {
  torch::Tensor after = room_for_next(S), out = torch::empty(v.sizes(), v.options());
  const torch::Tensor before = S.contiguous(), queries = q.contiguous(), keys = k.contiguous(), values = v.contiguous();
  const torch::Tensor decays = decay.defined() ? decay.expand(k.sizes()).contiguous() : decay;
  const torch::Tensor strengths = beta.defined() ? beta.contiguous() : beta;
  kernels::matrix_step({extent(v, 0) * extent(v, 1), extent(q, 2), extent(v, 2), floats(queries), floats(keys),
                        floats(values), floats(decays), floats(strengths)},
                       floats(before), floats(after), floats(out));
  S = after;
  return out;
}

}  // namespace mneme::ops
