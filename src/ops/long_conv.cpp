#include "ops/long_conv.h"

#include <algorithm>

#include "core/error.h"
#include "kernels/conv/long_conv.h"
#include "ops/operation.h"
#include "ops/path.h"
#include "ops/tensors.h"

namespace mneme::ops {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

struct LongConvTensors {
  torch::Tensor x, kernel;  // contiguous

  kernels::LongConvInput input() const {
    return {{extent(x, 0), extent(x, 1), extent(kernel, 0), extent(kernel, 1)}, floats(x), floats(kernel)};
  }
};

class LongConv : public Operation<LongConv> {
 public:
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& x, const torch::Tensor& kernel) {
    const LongConvTensors t{x.contiguous(), kernel.contiguous()};
    torch::Tensor out = torch::empty_like(t.x);
    kernels::long_conv(t.input(), floats(out));
    context->save_for_backward({t.x, t.kernel});
    return out;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const auto t = named<LongConvTensors>(context->get_saved_variables());
    const torch::Tensor dout = gradients[0].contiguous();
    torch::Tensor dx, dkernel;
    if (context->needs_input_grad(0)) dx = torch::empty_like(t.x);
    if (context->needs_input_grad(1)) dkernel = torch::empty_like(t.kernel);
    kernels::long_conv_backward(t.input(), floats(dout), {floats(dx), floats(dkernel)});
    return {dx, dkernel};
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
