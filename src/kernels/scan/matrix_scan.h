// matrix_scan: running products of square matrices, and back.
//
//   p[b, 0] = m[b, 0];  p[b, t] = p[b, t-1] m[b, t]                         (the new factor on the right)
//   g[t] = dp[b, t] + g[t+1] m[b, t+1]^T;  dm[b, t] = p[b, t-1]^T g[t];  dm[b, 0] = g[0]
// dp is dout. m, p, dp, dm are [B, L, N, N], float32, contiguous; outputs are overwritten and alias nothing. Every
// entry of a product is summed in the order of the inner index. Overflow gives infinities and NaN as it should.
#pragma once

#include <cstddef>

namespace mneme::kernels {

struct MatrixScanInput {
  std::size_t B, L, N;
  const float* m;
};

// p is the output of the forward pass.
void matrix_scan(const MatrixScanInput& in, float* p);
void matrix_scan_backward(const MatrixScanInput& in, const float* p, const float* dout, float* dm);

void matrix_scan_reference(const MatrixScanInput& in, float* p);
void matrix_scan_backward_reference(const MatrixScanInput& in, const float* p, const float* dout, float* dm);

}  // namespace mneme::kernels
