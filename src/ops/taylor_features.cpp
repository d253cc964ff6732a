#include "ops/taylor_features.h"

#include <cmath>
#include <vector>

#include "kernels/attention/taylor_features.h"
#include "ops/operation.h"
#include "ops/path.h"
#include "ops/tensors.h"

namespace mneme::ops {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

std::size_t rows(const torch::Tensor& x) { return static_cast<std::size_t>(x.numel() / x.size(-1)); }

class TaylorFeatures : public Operation<TaylorFeatures> {
 public:
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& input) {
    const torch::Tensor x = input.contiguous();
    context->save_for_backward({x});
    std::vector<std::int64_t> shape = x.sizes().vec();
    const std::size_t F = extent(x, -1);
    shape.back() = static_cast<std::int64_t>(kernels::taylor_features_width(F));
    torch::Tensor phi = torch::empty(shape, x.options());
    kernels::taylor_features(x.data_ptr<float>(), rows(x), F, phi.data_ptr<float>());
    return phi;
  }

  static variable_list backward(AutogradContext* context, const variable_list& outputs) {
    const torch::Tensor x = context->get_saved_variables()[0], dphi = outputs[0].contiguous();
    torch::Tensor dx = torch::empty_like(x);
    kernels::taylor_features_backward(x.data_ptr<float>(), dphi.data_ptr<float>(), rows(x), extent(x, -1),
                                      dx.data_ptr<float>());
    return {dx};
  }
};

torch::Tensor composed_features(const torch::Tensor& x) {
  const std::int64_t F = x.size(-1);
  const auto width = static_cast<double>(F);
  std::vector<torch::Tensor> parts = {torch::ones_like(x.narrow(-1, 0, 1)), x / std::sqrt(std::sqrt(width))};
  for (std::int64_t i = 0; i < F; ++i) {
    const torch::Tensor xi = x.narrow(-1, i, 1);
    parts.push_back(xi * xi / std::sqrt(2.0 * width));
    parts.push_back(xi * x.narrow(-1, i + 1, F - i - 1) / std::sqrt(width));
  }
  return torch::cat(parts, -1);
}

}  // namespace

torch::Tensor taylor_features(const torch::Tensor& x) {
  return use_kernels(x) ? TaylorFeatures::apply(x) : composed_features(x);
}

}  // namespace mneme::ops
