#include "ops/diagonal_kernel.h"

#include "core/error.h"
#include "kernels/conv/diagonal_kernel.h"
#include "ops/operation.h"
#include "ops/path.h"

namespace mneme::ops {
namespace {

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// Arguments and gradients are [n, H]: the kernel runs along the channels.
class DiagonalKernel : public Operation<DiagonalKernel> {
 public:
  static Tensor forward(AutogradContext* context, const Tensor& w_re, const Tensor& w_im, const Tensor& pole_re,
                        const Tensor& pole_im, std::int64_t length) {
    const variable_list in = {w_re.contiguous(), w_im.contiguous(), pole_re.contiguous(), pole_im.contiguous()};
    Tensor kernel = torch::empty({length, w_re.size(1)}, w_re.options().dtype(torch::kFloat32));
    kernels::diagonal_kernel(
        {sizes_of(in[0], length), {data(in[0]), data(in[1])}, {data(in[2]), data(in[3])}, kernel.data_ptr<float>()});
    context->save_for_backward(in);
    return kernel;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const variable_list in = context->get_saved_variables();
    const Tensor dk = gradients[0].contiguous();
    variable_list out;
    for (int i = 0; i < 4; ++i) out.push_back(torch::empty_like(in[0]));
    kernels::diagonal_kernel_backward({sizes_of(in[0], dk.size(0)),
                                       {data(in[0]), data(in[1])},
                                       {data(in[2]), data(in[3])},
                                       dk.data_ptr<float>(),
                                       {data(out[0]), data(out[1])},
                                       {data(out[2]), data(out[3])}});
    out.push_back(Tensor());
    return out;
  }

 private:
  static double* data(const Tensor& tensor) { return tensor.data_ptr<double>(); }
  static kernels::DiagonalKernelSizes sizes_of(const Tensor& w, std::int64_t length) {
    return {static_cast<std::size_t>(length), static_cast<std::size_t>(w.size(0)), static_cast<std::size_t>(w.size(1))};
  }
};

// Powers by doubling: [H, n, L] holds pole^0 .. pole^(L-1), each product of two powers that are there already.
ComplexPair powers(const ComplexPair& pole, std::int64_t length) {
  ComplexPair all{torch::ones_like(pole.re).unsqueeze(2), torch::zeros_like(pole.re).unsqueeze(2)};
  ComplexPair next{pole.re.unsqueeze(2), pole.im.unsqueeze(2)};  // pole^(number of powers so far)
  while (all.re.size(2) < length) {
    const ComplexPair shifted = all * next;
    all = {torch::cat({all.re, shifted.re}, 2), torch::cat({all.im, shifted.im}, 2)};
    next = next * next;
  }
  return {all.re.narrow(2, 0, length), all.im.narrow(2, 0, length)};
}

}  // namespace

Tensor diagonal_kernel(const ComplexPair& w, const ComplexPair& pole, std::int64_t length, const Tensor& like) {
  require(w.re.scalar_type() == torch::kFloat64, "weights and poles in float64");
  if (use_kernels(like)) return DiagonalKernel::apply(w.re.t(), w.im.t(), pole.re.t(), pole.im.t(), length);
  const ComplexPair terms = ComplexPair{w.re.unsqueeze(2), w.im.unsqueeze(2)} * powers(pole, length);
  return (2.0 * terms.re.sum(1)).t().to(like.options());
}

}  // namespace mneme::ops
