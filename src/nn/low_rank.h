// A map through a narrow waist: y = B f(A x) + bias, with the parameter names of fla's LoRA.
#pragma once

#include "nn/draw.h"
#include "ops/torch.h"

namespace mneme::nn {

class LowRank : public torch::nn::Module {
 public:
  enum class Waist { identity, tanh, sigmoid };

  LowRank(std::int64_t in, std::int64_t rank, std::int64_t out, Waist waist, bool bias);

  torch::Tensor forward(const torch::Tensor& x) const;

  // A zero, B a random matrix with orthonormal columns (or rows) times 0.1; the bias is set to bias(c).
  void initialise(const Draw& draw, const std::string& prefix, const std::function<double(std::int64_t)>& bias);

 private:
  Waist waist_;
  torch::Tensor A_, B_, bias_;  // [rank, in], [out, rank], [out] or undefined
};

}  // namespace mneme::nn
