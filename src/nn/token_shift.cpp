#include "nn/token_shift.h"

#include "ops/path.h"
#include "ops/token_blend.h"

namespace mneme::nn {

std::vector<torch::Tensor> token_blends(const torch::Tensor& x, const torch::Tensor& previous,
                                        const std::vector<torch::Tensor>& shares) {
  const torch::Tensor back = previous - x;
  std::vector<torch::Tensor> blends;
  for (const torch::Tensor& share : shares) blends.push_back(torch::addcmul(x, back, share));
  return blends;
}

std::vector<torch::Tensor> token_blends(const torch::Tensor& x, const std::vector<torch::Tensor>& shares) {
  if (ops::use_kernels(x)) return ops::token_blend(x, torch::cat(shares).view({-1, x.size(2)}));
  return token_blends(x, torch::constant_pad_nd(x, {0, 0, 1, -1}), shares);
}

}  // namespace mneme::nn
