#include "kernels/dense/mlp.h"

#include <cmath>
#include <numbers>
#include <vector>

#include "kernels/dense/linear.h"

namespace mneme::kernels {
namespace {

double normal_distribution(double x) { return 0.5 * std::erfc(-x / std::numbers::sqrt2); }
double normal_density(double x) { return std::exp(-0.5 * x * x) * std::numbers::inv_sqrtpi / std::numbers::sqrt2; }

std::vector<float> gelu(const float* h, std::size_t count) {
  std::vector<float> g(count);
  for (std::size_t i = 0; i < count; ++i) g[i] = static_cast<float>(h[i] * normal_distribution(h[i]));
  return g;
}

}  // namespace

void mlp_reference(const MlpInput& in, float* out, const MlpSaved& saved) {
  linear_reference({in.T, in.D, in.H}, in.x, in.weight1, in.bias1, saved.h);
  linear_reference({in.T, in.H, in.D}, gelu(saved.h, in.T * in.H).data(), in.weight2, in.bias2, out);
}

void mlp_backward_reference(const MlpInput& in, const MlpSaved& saved, const float* dout, const MlpGradients& to) {
  const float* h = saved.h;
  std::vector<float> dh(in.T * in.H);
  linear_backward_reference({in.T, in.H, in.D}, gelu(h, dh.size()).data(), in.weight2, dout,
                            {dh.data(), to.dweight2, to.dbias2});
  for (std::size_t i = 0; i < dh.size(); ++i)
    dh[i] = static_cast<float>(dh[i] * (normal_distribution(h[i]) + h[i] * normal_density(h[i])));
  linear_backward_reference({in.T, in.D, in.H}, in.x, in.weight1, dh.data(), {to.dx, to.dweight1, to.dbias1});
}

}  // namespace mneme::kernels
