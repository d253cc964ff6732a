#include <vector>

#include "kernels/scan/matrix_scan.h"

namespace mneme::kernels {

void matrix_scan_reference(const MatrixScanInput& in, float* p) {
  const std::size_t L = in.L, N = in.N;
  for (std::size_t b = 0; b < in.B; ++b) {
    std::vector<double> product(N * N, 0.0);
    for (std::size_t i = 0; i < N; ++i) product[i * N + i] = 1.0;
    for (std::size_t t = 0; t < L; ++t) {
      const float* m = in.m + (b * L + t) * N * N;
      std::vector<double> next(N * N, 0.0);
      for (std::size_t i = 0; i < N; ++i)
        for (std::size_t k = 0; k < N; ++k)
          for (std::size_t j = 0; j < N; ++j) next[i * N + j] += product[i * N + k] * m[k * N + j];
      product = next;
      for (std::size_t i = 0; i < N * N; ++i) p[(b * L + t) * N * N + i] = static_cast<float>(product[i]);
    }
  }
}

void matrix_scan_backward_reference(const MatrixScanInput& in, const float* p, const float* dout, float* dm) {
  const std::size_t L = in.L, N = in.N;
  for (std::size_t b = 0; b < in.B; ++b) {
    std::vector<double> g(N * N, 0.0);
    for (std::size_t t = L; t-- > 0;) {
      const std::size_t at = (b * L + t) * N * N;
      std::vector<double> next(dout + at, dout + at + N * N);
      if (t + 1 < L)
        for (std::size_t i = 0; i < N; ++i)
          for (std::size_t k = 0; k < N; ++k)
            for (std::size_t j = 0; j < N; ++j) next[i * N + k] += g[i * N + j] * in.m[at + N * N + k * N + j];
      g = next;
      for (std::size_t k = 0; k < N; ++k)
        for (std::size_t j = 0; j < N; ++j) {
          double sum = t == 0 ? g[k * N + j] : 0.0;
          if (t > 0)
            for (std::size_t i = 0; i < N; ++i) sum += static_cast<double>(p[at - N * N + i * N + k]) * g[i * N + j];
          dm[at + k * N + j] = static_cast<float>(sum);
        }
    }
  }
}

}  // namespace mneme::kernels
