#include "mixers/list.h"

#include <cmath>
#include <numbers>

#include "nn/nested.h"
#include "nn/pointwise_conv.h"
#include "ops/diagonal_kernel.h"
#include "ops/long_conv.h"
#include "ops/tap.h"

namespace mneme::mixers {
namespace {

using torch::Tensor;

// The parameters of the model itself, one set a channel; made discrete in float64 by zero-order hold.
class S4dKernel : public torch::nn::Module, public nn::SelfInitialised {
 public:
  S4dKernel(std::int64_t H, std::int64_t n, double dt_min, double dt_max)
      : log_dt_min_(std::log(dt_min)), log_dt_max_(std::log(dt_max)) {
    C_ = register_parameter("C", torch::zeros({H, n, 2}));
    log_dt_ = register_parameter("log_dt", torch::zeros({H}));
    log_A_real_ = register_parameter("log_A_real", torch::zeros({H, n}));
    A_imag_ = register_parameter("A_imag", torch::zeros({H, n}));
  }

  struct Discrete {
    ops::ComplexPair pole, B, C;  // [H, n]
  };
  Discrete discrete() const {
    const ops::ComplexPair A{-torch::exp(log_A_real_.to(torch::kFloat64)), A_imag_.to(torch::kFloat64)};
    const ops::ComplexPair scaled = torch::exp(log_dt_.to(torch::kFloat64)).unsqueeze(1) * A;  // [H, n]
    return {ops::exponential(scaled), ops::exponential_minus_one(scaled) / A,
            ops::complex_pair(C_.to(torch::kFloat64))};
  }

  // [L, H]
  Tensor forward(std::int64_t length, const Tensor& like) const {
    const Discrete model = discrete();
    return ops::diagonal_kernel(model.C * model.B, model.pole, length, like);
  }

  void initialise(const nn::Draw& draw, const std::string& prefix) override {
    const std::int64_t n = A_imag_.size(1);
    draw.normal(C_, prefix + "C", std::sqrt(0.5));
    draw.values(log_dt_, prefix + "log_dt", [this](Random& random, std::int64_t) {
      return log_dt_min_ + random.uniform() * (log_dt_max_ - log_dt_min_);
    });
    draw.constant(log_A_real_, std::log(0.5));
    draw.values(A_imag_, prefix + "A_imag",
                [n](Random&, std::int64_t i) { return std::numbers::pi * static_cast<double>(i % n); });
  }

 private:
  double log_dt_min_, log_dt_max_;
  Tensor C_, log_dt_, log_A_real_, A_imag_;  // [H, n, 2], [H], [H, n] twice
};

class S4d : public Mixer, public nn::SelfInitialised {
 public:
  S4d(const catalog::MixerContext& context, const Options& options)
      : H_(context.width), n_(options.integer("d_state") / 2), dropout_(options.real("dropout")) {
    D_ = register_parameter("D", torch::zeros({H_}));
    kernel_ =
        register_module("kernel", std::make_shared<S4dKernel>(H_, n_, options.real("dt_min"), options.real("dt_max")));
    output_linear_ = nn::register_nested(*this, "output_linear", "0", std::make_shared<nn::PointwiseConv>(H_, 2 * H_));
  }

  Tensor forward(const Tensor& x, nn::Pass& pass) override { return mix(x, ops::Positions(), pass); }

  Tensor forward_at(const Tensor& x, const Tensor& positions, nn::Pass& pass) override {
    return mix(x, ops::Positions(positions), pass);
  }

  bool has_step() const override { return true; }

  // The complex states as [B, H, n, 2]. What the steps need of the parameters is made here, once.
  MixerState initial_state(std::int64_t batch) const override {
    const S4dKernel::Discrete model = kernel_->discrete();
    step_ = {model.pole, model.B, model.C};
    return {{torch::zeros({batch, H_, n_, 2}, D_.options())}};
  }

  Recurrence recurrence() const override { return {.tensors = {0}, .coupled = {3}}; }
  Tensor step(MixerState& state, const Tensor& x) override {
    const Tensor y = step_(state.tensors[0], x);  // [B, H]
    return output(torch::gelu(y + D_ * x));
  }

  void initialise(const nn::Draw& draw, const std::string& prefix) override { draw.normal(D_, prefix + "D", 1.0); }

 private:
  Tensor mix(const Tensor& x, const ops::Positions& positions, nn::Pass& pass) {
    const Tensor kernel = kernel_->forward(x.size(1), x);  // [L, H]
    // The skip connection is one more term of tap 0: [L, H].
    const Tensor taps = torch::cat({(kernel.select(0, 0) + D_).unsqueeze(0), kernel.narrow(0, 1, x.size(1) - 1)});
    const Tensor convolved = ops::long_conv(ops::tap(ops::TapPoint::values, x, *this), taps);  // [B, L, H]
    const Tensor y = ops::tap(ops::TapPoint::mixed, convolved, *this);                         // [B, L, H]
    if (!pass.is_training() || dropout_ == 0) return output(torch::gelu(positions.of(y)));
    // A channel is dropped for a whole sequence.
    return output(positions.of(torch::gelu(y) * pass.dropout(torch::ones({x.size(0), 1, H_}, x.options()), dropout_)));
  }

  Tensor output(const Tensor& y) const { return torch::glu(output_linear_->forward(y), -1); }

  std::int64_t H_, n_;
  double dropout_;
  Tensor D_;  // [H]
  std::shared_ptr<S4dKernel> kernel_;
  std::shared_ptr<nn::PointwiseConv> output_linear_;
  mutable ops::DiagonalStep step_;
};

}  // namespace

MixerPointer build_s4d(const catalog::MixerContext& context, const Options& options) {
  return std::make_shared<S4d>(context, options);
}

}  // namespace mneme::mixers
