#include "mixers/low_rank.h"

#include <cmath>
#include <vector>

namespace mneme {
namespace {

// A module that only holds parameters under a name.
class Holder : public torch::nn::Module {};

// Makes the shorter side's vectors of a matrix [rows, columns] orthonormal, one after the other.
void orthonormalise(torch::Tensor matrix) {
  const bool tall = matrix.size(0) >= matrix.size(1);
  torch::Tensor vectors = (tall ? matrix.t() : matrix).to(torch::kFloat64).contiguous();
  const std::int64_t count = vectors.size(0), size = vectors.size(1);
  double* v = vectors.data_ptr<double>();
  for (std::int64_t i = 0; i < count; ++i) {
    for (std::int64_t j = 0; j < i; ++j) {
      double along = 0;
      for (std::int64_t c = 0; c < size; ++c) along += v[i * size + c] * v[j * size + c];
      for (std::int64_t c = 0; c < size; ++c) v[i * size + c] -= along * v[j * size + c];
    }
    double squares = 0;
    for (std::int64_t c = 0; c < size; ++c) squares += v[i * size + c] * v[i * size + c];
    for (std::int64_t c = 0; c < size; ++c) v[i * size + c] /= std::sqrt(squares);
  }
  matrix.copy_(tall ? vectors.t() : vectors);
}

}  // namespace

LowRank::LowRank(std::int64_t in, std::int64_t rank, std::int64_t out, Waist waist, bool bias) : waist_(waist) {
  const auto outer = register_module("lora", std::make_shared<Holder>());
  const auto first = outer->register_module("0", std::make_shared<Holder>());
  const auto last = outer->register_module("2", std::make_shared<Holder>());
  A_ = first->register_parameter("weight", torch::zeros({rank, in}));
  B_ = last->register_parameter("weight", torch::zeros({out, rank}));
  if (bias) bias_ = last->register_parameter("bias", torch::zeros({out}));
}

torch::Tensor LowRank::forward(const torch::Tensor& x) const {
  torch::Tensor waist = torch::linear(x, A_);
  if (waist_ == Waist::tanh) waist = torch::tanh(waist);
  if (waist_ == Waist::sigmoid) waist = torch::sigmoid(waist);
  return torch::linear(waist, B_, bias_);
}

void LowRank::initialise(const Draw& draw, const std::string& prefix, const std::function<double(std::int64_t)>& bias) {
  const torch::NoGradGuard guard;
  draw.constant(A_, 0.0);
  draw.normal(B_, prefix + "lora.2.weight", 1.0);
  orthonormalise(B_);
  B_.mul_(0.1);
  if (bias_.defined())
    draw.values(bias_, prefix + "lora.2.bias", [&](Random&, std::int64_t c) { return bias(c); });
}

}  // namespace mneme
