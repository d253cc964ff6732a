#include "nn/own_linears.h"

#include <cmath>

namespace mneme::nn {
namespace {

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

void draw_orthogonal(const Draw& draw, torch::Tensor matrix, const std::string& name, double gain) {
  const torch::NoGradGuard guard;
  draw.normal(matrix, name, 1.0);
  orthonormalise(matrix);
  matrix.mul_(gain);
}

}  // namespace mneme::nn
