#include "ops/cauchy.h"

#include <numbers>

#include "kernels/conv/cauchy.h"
#include "ops/operation.h"
#include "ops/tensors.h"

namespace mneme::ops {
namespace {

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// All tensors are real: the parts of u [V, H, n] and a [H, n].
struct CauchyTensors {
  Tensor u_re, u_im, a_re, a_im;

  variable_list list() const { return {u_re, u_im, a_re, a_im}; }

  kernels::CauchyInput input(std::int64_t nodes) const {
    return {{extent(u_re, 0), extent(u_re, 1), extent(u_re, 2), static_cast<std::size_t>(nodes)},
            {doubles(u_re), doubles(u_im)},
            {doubles(a_re), doubles(a_im)}};
  }
};

class CauchySums : public Operation<CauchySums> {
 public:
  // The parts of the sums, [V, H, F].
  static variable_list forward(AutogradContext* context, const Tensor& u_re, const Tensor& u_im, const Tensor& a_re,
                               const Tensor& a_im, std::int64_t nodes) {
    const CauchyTensors t{u_re.contiguous(), u_im.contiguous(), a_re.contiguous(), a_im.contiguous()};
    const Tensor re = torch::empty({u_re.size(0), u_re.size(1), nodes / 2 + 1}, u_re.options()),
                 im = torch::empty_like(re);
    kernels::cauchy(t.input(nodes), {doubles(re), doubles(im)});
    context->save_for_backward(t.list());
    context->saved_data["nodes"] = nodes;
    return {re, im};
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const auto t = named<CauchyTensors>(context->get_saved_variables());
    const Tensor dout_re = gradients[0].contiguous(), dout_im = gradients[1].contiguous();
    const Tensor du_re = torch::empty_like(t.u_re), du_im = torch::empty_like(t.u_re),
                 da_re = torch::empty_like(t.a_re), da_im = torch::empty_like(t.a_re);
    kernels::cauchy_backward(t.input(context->saved_data["nodes"].toInt()), {doubles(dout_re), doubles(dout_im)},
                             {{doubles(du_re), doubles(du_im)}, {doubles(da_re), doubles(da_im)}});
    return {du_re, du_im, da_re, da_im, Tensor()};
  }
};

// w_f = exp(-2 pi i f / M), f = 0..M/2
Tensor roots_of_unity(std::int64_t nodes, const torch::TensorOptions& options) {
  const Tensor angle = torch::arange(nodes / 2 + 1, options.dtype(torch::kFloat64)) *
                       (-2.0 * std::numbers::pi / static_cast<double>(nodes));
  return torch::complex(torch::cos(angle), torch::sin(angle));
}

}  // namespace

Tensor half_sum_nodes(std::int64_t nodes, const torch::TensorOptions& options) {
  return 0.5 * (1.0 + roots_of_unity(nodes, options));
}

Tensor cauchy_sums(const Tensor& u, const Tensor& a, std::int64_t nodes, bool kernels) {
  if (kernels) {
    const variable_list parts =
        CauchySums::apply(torch::real(u), torch::imag(u), torch::real(a), torch::imag(a), nodes);
    return torch::complex(parts[0], parts[1]);
  }
  const Tensor x = 1.0 - roots_of_unity(nodes, a.options()), e = half_sum_nodes(nodes, a.options());
  const Tensor direct = 1.0 / (x - a.unsqueeze(2) * e), mirrored = 1.0 / (x - a.conj().unsqueeze(2) * e);  // [H, n, F]
  return (u.unsqueeze(3) * direct + u.conj().unsqueeze(3) * mirrored).sum(2);
}

}  // namespace mneme::ops
