#include "mixers/list.h"

#include <cmath>

#include "ops/linear.h"
#include "ops/matrix_scan.h"

namespace mneme::mixers {
namespace {

using torch::Tensor;

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
    return read(ops::running_products(factors(x)), x);  // [B, L, N, N]
  }

  bool has_step() const override { return true; }

  // The product so far, [B, N, N].
  MixerState initial_state(std::int64_t batch) const override {
    return {{torch::eye(N_, A_.options()).repeat({batch, 1, 1})}};
  }

  Tensor step(MixerState& state, const Tensor& x) override {
    state.tensors[0] = torch::matmul(state.tensors[0], factors(x));  // [B, N, N]
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

  // product [.., N, N], x [.., D] -> [.., D]
  Tensor read(const Tensor& product, const Tensor& x) {
    return C_->forward(proj_->forward(product).squeeze(-1)) + D_->forward(x);
  }

  std::int64_t N_;
  Tensor A_;  // [D, N, N]
  ops::Linear proj_{nullptr}, C_{nullptr}, D_{nullptr};
};

}  // namespace

MixerPointer build_ids4(const catalog::MixerContext& context, const Options& options) {
  return std::make_shared<Ids4>(context, options);
}

}  // namespace mneme::mixers
