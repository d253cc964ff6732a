#include "ops/long_conv.h"

#include <algorithm>

#include "core/error.h"
#include "kernels/conv/long_conv.h"
#include "ops/operation.h"
#include "ops/path.h"

namespace mneme::ops {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

kernels::LongConvSizes sizes_of(const torch::Tensor& x, const torch::Tensor& kernel) {
  const auto size = [](std::int64_t n) { return static_cast<std::size_t>(n); };
  return {size(x.size(0)), size(x.size(1)), size(kernel.size(0)), size(kernel.size(1))};
}

class LongConv : public Operation<LongConv> {
 public:
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& x_in, const torch::Tensor& kernel_in) {
    const torch::Tensor x = x_in.contiguous(), kernel = kernel_in.contiguous();
    torch::Tensor y = torch::empty_like(x);
    kernels::long_conv({sizes_of(x, kernel), x.data_ptr<float>(), kernel.data_ptr<float>(), y.data_ptr<float>()});
    context->save_for_backward({x, kernel});
    return y;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const variable_list saved = context->get_saved_variables();
    const torch::Tensor &x = saved[0], &kernel = saved[1], dy = gradients[0].contiguous();
    torch::Tensor dx, dk;
    if (context->needs_input_grad(0)) dx = torch::empty_like(x);
    if (context->needs_input_grad(1)) dk = torch::empty_like(kernel);
    kernels::long_conv_backward({sizes_of(x, kernel), x.data_ptr<float>(), kernel.data_ptr<float>(),
                                 dy.data_ptr<float>(), dx.defined() ? dx.data_ptr<float>() : nullptr,
                                 dk.defined() ? dk.data_ptr<float>() : nullptr});
    return {dx, dk};
  }
};

// The next size at or above n without prime factors beyond 5: the transform is slow for large primes.
std::int64_t transform_size(std::int64_t n) {
  for (;; ++n) {
    std::int64_t rest = n;
    for (const std::int64_t prime : {2, 3, 5})
      while (rest % prime == 0) rest /= prime;
    if (rest == 1) return n;
  }
}

torch::Tensor transformed_conv(const torch::Tensor& x, const torch::Tensor& kernel_in) {
  const std::int64_t L = x.size(1);
  const torch::Tensor kernel = kernel_in.narrow(0, 0, std::min(kernel_in.size(0), L));
  // A circle of at least L + K - 1 steps, so that nothing wraps into the first L.
  const std::int64_t size = transform_size(L + kernel.size(0) - 1);
  // The transform wants its axis innermost.
  const torch::Tensor spectrum = torch::fft_rfft(x.transpose(1, 2).contiguous(), size) *
                                 torch::fft_rfft(kernel.t().contiguous(), size);  // [B, C, size / 2 + 1]
  return torch::fft_irfft(spectrum, size).narrow(2, 0, L).transpose(1, 2);
}

}  // namespace

torch::Tensor long_conv(const torch::Tensor& x, const torch::Tensor& kernel) {
  require(x.dim() == 3 && kernel.dim() == 2 && x.size(2) == kernel.size(1), "x [B, L, C] and kernel [K, C]");
  return use_kernels(x) ? LongConv::apply(x, kernel) : transformed_conv(x, kernel);
}

}  // namespace mneme::ops
