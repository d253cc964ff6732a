#include "mixers/list.h"

#include <cmath>

#include "kernels/scan/matrix_scan.h"
#include "ops/linear.h"
#include "ops/operation.h"
#include "ops/path.h"

namespace mneme::mixers {
namespace {

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// m [B, L, N, N] -> the products of the first t matrices.
class MatrixScan : public ops::Operation<MatrixScan> {
 public:
  static Tensor forward(AutogradContext* context, const Tensor& m_in) {
    const Tensor m = m_in.contiguous();
    Tensor p = torch::empty_like(m);
    kernels::matrix_scan({sizes_of(m), m.data_ptr<float>(), p.data_ptr<float>()});
    context->save_for_backward({m, p});
    return p;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const variable_list saved = context->get_saved_variables();
    const Tensor dp = gradients[0].contiguous();
    Tensor dm = torch::empty_like(dp);
    kernels::matrix_scan_backward({sizes_of(dp), saved[0].data_ptr<float>(), saved[1].data_ptr<float>(),
                                   dp.data_ptr<float>(), dm.data_ptr<float>()});
    return {dm};
  }

 private:
  static kernels::MatrixScanSizes sizes_of(const Tensor& m) {
    return {static_cast<std::size_t>(m.size(0)), static_cast<std::size_t>(m.size(1)),
            static_cast<std::size_t>(m.size(2))};
  }
};

Tensor running_products(const Tensor& m) {
  if (ops::use_kernels(m)) return MatrixScan::apply(m);
  std::vector<Tensor> products = {m.select(1, 0)};
  for (std::int64_t t = 1; t < m.size(1); ++t) products.push_back(torch::matmul(products.back(), m.select(1, t)));
  return torch::stack(products, 1);
}

class Ids4 : public Mixer, public nn::SelfInitialised {
 public:
  Ids4(const catalog::MixerContext& context, const Options& options) : N_(options.integer("d_state")) {
    const std::int64_t D = context.width;
    A_ = register_parameter("A", torch::zeros({D, N_, N_}));
    proj_ = register_module("proj", ops::Linear(N_, 1));
    C_ = register_module("C", ops::Linear(N_, D));
    D_ = register_module("D", ops::Linear(D, D));
  }

  Tensor forward(const Tensor& x, nn::Pass&) override {
    return read(running_products(factors(x)), x);  // [B, L, N, N]
  }

  bool has_step() const override { return true; }

  // The product so far, [B, N, N].
  MixerState initial_state(std::int64_t batch) const override {
    return {{torch::eye(N_, A_.options()).repeat({batch, 1, 1})}};
  }

  Tensor step(MixerState& state, const Tensor& x) override {
    state.tensors[0] = torch::matmul(state.tensors[0], factors(x));
    return read(state.tensors[0], x);
  }

  // The identity and noise that keeps the size of a vector.
  void initialise(const nn::Draw& draw, const std::string& prefix) override {
    const std::int64_t N = N_;
    draw.values(A_, prefix + "A", [N](Random& random, std::int64_t i) {
      const std::int64_t place = i % (N * N);
      return random.normal() / std::sqrt(static_cast<double>(N)) + (place / N == place % N ? 1.0 : 0.0);
    });
  }

 private:
  // gelu(sum_d x_d A_d): [..., D] -> [..., N, N]
  Tensor factors(const Tensor& x) const { return torch::gelu(torch::matmul(x, A_.flatten(1))).unflatten(-1, {N_, N_}); }

  Tensor read(const Tensor& product, const Tensor& x) {
    return C_->forward(proj_->forward(product).squeeze(-1)) + D_->forward(x);
  }

  std::int64_t N_;
  Tensor A_;
  ops::Linear proj_{nullptr}, C_{nullptr}, D_{nullptr};
};

}  // namespace

MixerPointer build_ids4(const catalog::MixerContext& context, const Options& options) {
  return std::make_shared<Ids4>(context, options);
}

}  // namespace mneme::mixers
