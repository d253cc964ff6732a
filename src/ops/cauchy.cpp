#include "ops/cauchy.h"

#include <numbers>

#include "kernels/conv/cauchy.h"
#include "ops/operation.h"

namespace mneme::ops {
namespace {

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

double* data(const Tensor& tensor) { return tensor.data_ptr<double>(); }

// All tensors real: the parts of u [V, H, n], a [H, n] and of the sums [V, H, F].
class CauchySums : public Operation<CauchySums> {
 public:
  static variable_list forward(AutogradContext* context, const Tensor& u_re, const Tensor& u_im, const Tensor& a_re,
                               const Tensor& a_im, std::int64_t nodes) {
    const variable_list in = {u_re.contiguous(), u_im.contiguous(), a_re.contiguous(), a_im.contiguous()};
    const variable_list out = {torch::empty({u_re.size(0), u_re.size(1), nodes / 2 + 1}, u_re.options()),
                               torch::empty({u_re.size(0), u_re.size(1), nodes / 2 + 1}, u_re.options())};
    kernels::cauchy(
        {sizes_of(in[0], nodes), {data(in[0]), data(in[1])}, {data(in[2]), data(in[3])}, {data(out[0]), data(out[1])}});
    context->save_for_backward(in);
    context->saved_data["nodes"] = nodes;
    return out;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const variable_list in = context->get_saved_variables();
    const Tensor ds_re = gradients[0].contiguous(), ds_im = gradients[1].contiguous();
    variable_list out = {torch::empty_like(in[0]), torch::empty_like(in[0]), torch::empty_like(in[2]),
                         torch::empty_like(in[2]), Tensor()};
    kernels::cauchy_backward({sizes_of(in[0], context->saved_data["nodes"].toInt()),
                              {data(in[0]), data(in[1])},
                              {data(in[2]), data(in[3])},
                              {data(ds_re), data(ds_im)},
                              {data(out[0]), data(out[1])},
                              {data(out[2]), data(out[3])}});
    return out;
  }

 private:
  static kernels::CauchySizes sizes_of(const Tensor& u, std::int64_t nodes) {
    return {static_cast<std::size_t>(u.size(0)), static_cast<std::size_t>(u.size(1)),
            static_cast<std::size_t>(u.size(2)), static_cast<std::size_t>(nodes)};
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
