// matrix_scan: running products of square matrices, and back.
//
//   p[b, 0] = m[b, 0];  p[b, t] = p[b, t-1] m[b, t]                         (the new factor on the right)
//   g[t] = dp[b, t] + g[t+1] m[b, t+1]^T;  dm[b, t] = p[b, t-1]^T g[t];  dm[b, 0] = g[0]
// m, p, dp, dm are [B, L, N, N], float32, contiguous; outputs are overwritten and alias nothing. Every entry of a
// product is summed in the order of the inner index. Overflow gives infinities and NaN as it should.
#pragma once

#include <cstddef>

namespace mneme::kernels {

struct MatrixScanSizes {
  std::size_t batch, length, order;  // B, L, N
};

struct MatrixScanArguments {
  MatrixScanSizes sizes;
  const float* m;
  float* p;
};

struct MatrixScanBackwardArguments {
  MatrixScanSizes sizes;
  const float* m;
  const float* p;
  const float* dp;
  float* dm;
};

void matrix_scan(const MatrixScanArguments& arguments);
void matrix_scan_reference(const MatrixScanArguments& arguments);

void matrix_scan_backward(const MatrixScanBackwardArguments& arguments);
void matrix_scan_backward_reference(const MatrixScanBackwardArguments& arguments);

}  // namespace mneme::kernels
