#include "ops/diagonal_kernel.h"

#include "core/error.h"
#include "kernels/conv/diagonal_kernel.h"
#include "kernels/scan/token_step.h"
#include "ops/next_state.h"
#include "ops/operation.h"
#include "ops/path.h"
#include "ops/tensors.h"

namespace mneme::ops {
namespace {

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// All [n, H]: the kernel runs along the channels.
struct DiagonalTensors {
  Tensor w_re, w_im, pole_re, pole_im;

  variable_list list() const { return {w_re, w_im, pole_re, pole_im}; }

  kernels::DiagonalKernelInput input(std::int64_t length) const {
    return {{static_cast<std::size_t>(length), extent(w_re, 0), extent(w_re, 1)},
            {doubles(w_re), doubles(w_im)},
            {doubles(pole_re), doubles(pole_im)}};
  }
};

class DiagonalKernel : public Operation<DiagonalKernel> {
 public:
  static Tensor forward(AutogradContext* context, const Tensor& w_re, const Tensor& w_im, const Tensor& pole_re,
                        const Tensor& pole_im, std::int64_t length) {
    const DiagonalTensors t{w_re.contiguous(), w_im.contiguous(), pole_re.contiguous(), pole_im.contiguous()};
    Tensor out = torch::empty({length, w_re.size(1)}, w_re.options().dtype(torch::kFloat32));
    kernels::diagonal_kernel(t.input(length), floats(out));
    context->save_for_backward(t.list());
    return out;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const auto t = named<DiagonalTensors>(context->get_saved_variables());
    const Tensor dout = gradients[0].contiguous();
    const Tensor dw_re = torch::empty_like(t.w_re), dw_im = torch::empty_like(t.w_re),
                 dpole_re = torch::empty_like(t.w_re), dpole_im = torch::empty_like(t.w_re);
    kernels::diagonal_kernel_backward(t.input(dout.size(0)), floats(dout),
                                      {{doubles(dw_re), doubles(dw_im)}, {doubles(dpole_re), doubles(dpole_im)}});
    return {dw_re, dw_im, dpole_re, dpole_im, Tensor()};
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

DiagonalStep::DiagonalStep(const ComplexPair& pole, const ComplexPair& B, const ComplexPair& C)
    : pole_(pole), B_(B), C_(C) {
  const torch::NoGradGuard guard;
  const auto parts = [](const Tensor& re, const Tensor& im) { return torch::stack({re, im}, 2); };  // [H, n, 2]
  const Tensor along = parts(pole.re, pole.re), across = parts(-pole.im, pole.im);
  const auto rest = [](const Tensor& exact) { return exact - exact.to(torch::kFloat32).to(torch::kFloat64); };
  coefficients_ =
      torch::stack({along, across, rest(along), rest(across), parts(B.re, B.im), parts(2 * C.re, -2 * C.im)})
          .to(torch::kFloat32);
}

Tensor DiagonalStep::operator()(Tensor& state, const Tensor& x) const {
  if (use_kernels(x) && !torch::GradMode::is_enabled()) {
    Tensor after = room_for_next(state), y = torch::empty(x.sizes(), x.options());
    const Tensor before = state.contiguous(), token = x.contiguous();
    const auto coefficients = [this](std::int64_t i) { return floats(coefficients_.select(0, i)); };
    kernels::diagonal_step({extent(before, 0), extent(before, 1), extent(before, 2), floats(token), coefficients(0),
                            coefficients(1), coefficients(2), coefficients(3), coefficients(4), coefficients(5)},
                           floats(before), floats(after), floats(y));
    state = after;
    return y;
  }
  const ComplexPair old = complex_pair(state.to(torch::kFloat64));
  const ComplexPair next = old * pole_ + x.to(torch::kFloat64).unsqueeze(2) * B_;  // [B, H, n]
  state = torch::stack({next.re, next.im}, 3).to(x.options());
  return (2.0 * (C_ * next).re.sum(2)).to(x.options());
}

}  // namespace mneme::ops
