#include "nn/hippo.h"

#include <cmath>

namespace mneme::nn {

using torch::Tensor;

HippoLegS hippo_legs(std::int64_t N) {
  const auto root = [](double value) { return std::sqrt(value); };
  Tensor hermitian = torch::zeros({N, N}, torch::kComplexDouble), B = torch::zeros({N}, torch::kFloat64), P = B.clone();
  auto matrix = hermitian.accessor<c10::complex<double>, 2>();
  for (std::int64_t i = 0; i < N; ++i) {
    const auto row = static_cast<double>(i);
    B[i] = root(2.0 * row + 1.0);
    P[i] = root(row + 0.5);
    for (std::int64_t j = 0; j < i; ++j) {
      // A + P P^T + 1/2 is skew: below the diagonal it is -sqrt((2i+1)(2j+1)) / 2. Times -i it is Hermitian.
      const double skew = -0.5 * root((2.0 * row + 1.0) * (2.0 * static_cast<double>(j) + 1.0));
      matrix[i][j] = c10::complex<double>(0.0, -skew);
      matrix[j][i] = c10::complex<double>(0.0, skew);
    }
  }
  const auto [values, vectors] = torch::linalg_eigh(hermitian);  // ascending
  const Tensor kept = vectors.narrow(1, 0, N / 2), first = kept.select(0, 0);
  // Eigenvectors are known up to a phase.
  const Tensor basis = (kept * (first.conj() / first.abs())).conj().t();  // [N/2, N]
  return {values.narrow(0, 0, N / 2), torch::mv(basis, B.to(torch::kComplexDouble)),
          torch::mv(basis, P.to(torch::kComplexDouble))};
}

}  // namespace mneme::nn
