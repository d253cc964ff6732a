#include "mixers/list.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "nn/nested.h"
#include "ops/diagonal_kernel.h"
#include "ops/linear.h"
#include "ops/long_conv.h"
#include "ops/tap.h"

namespace mneme::mixers {
namespace {

using torch::Tensor;

// A register of N past inputs: B says where an input enters, C what is read.
class ShiftKernel : public torch::nn::Module, public nn::SelfInitialised {
 public:
  ShiftKernel(std::int64_t D, std::int64_t N) {
    B = register_parameter("B", torch::zeros({D, N}));
    C = register_parameter("C", torch::zeros({1, D, N}));
  }

  // [taps, D], taps <= N: s[l] = sum_i B[i] C[i + l], a convolution with C turned round.
  Tensor forward(std::int64_t taps) const {
    const Tensor read = C.squeeze(0).flip(1).t();  // [N, D]
    return ops::long_conv(B.t().unsqueeze(0), read).squeeze(0).flip(0).narrow(0, 0, taps);
  }

  void initialise(const nn::Draw& draw, const std::string& prefix) override {
    const std::int64_t N = B.size(1);
    draw.values(B, prefix + "B", [N](Random&, std::int64_t i) { return i % N == 0 ? 1.0 : 0.0; });
    draw.uniform(C, prefix + "C", 1.0 / std::sqrt(static_cast<double>(N)));
  }

  Tensor B, C;  // [D, N], [1, D, N]
};

// A diagonal model a head, made discrete in float64 by the bilinear rule.
class DiagonalModel : public torch::nn::Module, public nn::SelfInitialised {
 public:
  DiagonalModel(std::int64_t H, std::int64_t n, double dt_min, double dt_max)
      : log_dt_min_(std::log(dt_min)), log_dt_max_(std::log(dt_max)) {
    log_dt_ = register_parameter("log_dt", torch::zeros({H}));
    B_ = register_parameter("B", torch::zeros({H, n, 2}));
    C_ = register_parameter("C", torch::zeros({1, H, n, 2}));
    inv_A_real_ = register_parameter("inv_A_real", torch::zeros({H, n}));
    A_imag_ = register_parameter("A_imag", torch::zeros({H, n}));
  }

  struct Discrete {
    ops::ComplexPair pole, B, C;  // [H, n]
  };
  Discrete discrete() const {
    const auto exact = [](const Tensor& parameter) { return parameter.to(torch::kFloat64); };
    const Tensor dt = torch::exp(exact(log_dt_)).unsqueeze(1);  // [H, 1]
    const ops::ComplexPair half = (0.5 * dt) * ops::ComplexPair{-torch::exp(exact(inv_A_real_)), exact(A_imag_)};
    const ops::ComplexPair above{1.0 + half.re, half.im}, below{1.0 - half.re, -half.im};
    return {above / below, (dt * ops::complex_pair(exact(B_))) / below, ops::complex_pair(exact(C_.squeeze(0)))};
  }

  // [taps, H]
  Tensor forward(std::int64_t taps, const Tensor& like) const {
    const Discrete model = discrete();
    return ops::diagonal_kernel(model.C * model.B, model.pole, taps, like);
  }

  void initialise(const nn::Draw& draw, const std::string& prefix) override {
    const std::int64_t n = A_imag_.size(1);
    draw.values(log_dt_, prefix + "log_dt", [this](Random& random, std::int64_t) {
      return log_dt_min_ + random.uniform() * (log_dt_max_ - log_dt_min_);
    });
    draw.values(B_, prefix + "B", [](Random&, std::int64_t i) { return i % 2 == 0 ? 1.0 : 0.0; });
    draw.normal(C_, prefix + "C", std::sqrt(0.5));
    draw.constant(inv_A_real_, std::log(0.5));
    draw.values(A_imag_, prefix + "A_imag",
                [n](Random&, std::int64_t i) { return std::numbers::pi * static_cast<double>(i % n); });
  }

 private:
  double log_dt_min_, log_dt_max_;
  Tensor log_dt_, B_, C_, inv_A_real_, A_imag_;  // [H], [H, n, 2], [1, H, n, 2], [H, n] twice
};

// A skip connection is one more term of tap 0.
Tensor with_skip(const Tensor& taps, const Tensor& skip) {
  return torch::cat({(taps.select(0, 0) + skip).unsqueeze(0), taps.narrow(0, 1, taps.size(0) - 1)});
}

class H3 : public Mixer, public nn::SelfInitialised {
 public:
  H3(const catalog::MixerContext& context, const Options& options)
      : width_(context.width),
        e_(options.integer("head_dim")),
        H_(width_ / e_),
        N_(options.integer("d_state")),
        longest_(options.flag("truncate") ? context.length : std::numeric_limits<std::int64_t>::max()) {
    ssm_k_D_ = register_parameter("ssm_k_D", torch::zeros({width_}));
    D_ = register_parameter("D", torch::zeros({H_}));
    q_proj_ = register_module("q_proj", ops::Linear(width_, width_));
    k_proj_ = register_module("k_proj", ops::Linear(width_, width_));
    v_proj_ = register_module("v_proj", ops::Linear(width_, width_));
    shift_ = nn::register_nested(*this, "ssm_k_kernel", "kernel", std::make_shared<ShiftKernel>(width_, N_));
    diagonal_ = nn::register_nested(
        *this, "kernel", "kernel",
        std::make_shared<DiagonalModel>(H_, N_ / 2, options.real("dt_min"), options.real("dt_max")));
    output_linear_ = register_module("output_linear", ops::Linear(width_, width_));
  }

  Tensor forward(const Tensor& x, nn::Pass&) override { return mix(x, ops::Positions()); }

  Tensor forward_at(const Tensor& x, const Tensor& positions, nn::Pass&) override {
    return mix(x, ops::Positions(positions));
  }

  bool has_step() const override { return true; }

  // The register [B, D, N], and the complex states [B, H, e, e, n, 2].
  MixerState initial_state(std::int64_t batch) const override {
    return {
        {torch::zeros({batch, width_, N_}, D_.options()), torch::zeros({batch, H_, e_, e_, N_ / 2, 2}, D_.options())}};
  }

  Recurrence recurrence() const override { return {.tensors = {1}, .coupled = {5}}; }
  bool is_window(std::size_t tensor) const override { return tensor == 0; }
  Tensor step(MixerState& state, const Tensor& x) override {
    const Tensor k = k_proj_->forward(x);                                                          // [B, D]
    const Tensor shifted = torch::constant_pad_nd(state.tensors[0].narrow(2, 0, N_ - 1), {1, 0});  // [B, D, N]
    state.tensors[0] = shifted + k.unsqueeze(2) * shift_->B;                                       // [B, D, N]
    const Tensor remembered = (state.tensors[0] * shift_->C).sum(2) + ssm_k_D_ * k;                // [B, D]

    const Tensor products = outer(remembered, v_proj_->forward(x));  // [B, H, e, e]
    const DiagonalModel::Discrete model = diagonal_->discrete();
    const auto per_head = [](const ops::ComplexPair& a) {  // [H, 1, 1, n]
      return ops::ComplexPair{a.re.unsqueeze(1).unsqueeze(1), a.im.unsqueeze(1).unsqueeze(1)};
    };
    const ops::ComplexPair old = ops::complex_pair(state.tensors[1].to(torch::kFloat64));  // [B, H, e, e, n]
    const ops::ComplexPair next =
        old * per_head(model.pole) + products.to(torch::kFloat64).unsqueeze(4) * per_head(model.B);
    state.tensors[1] = torch::stack({next.re, next.im}, 5).to(x.options());
    const Tensor y = (2.0 * (next * per_head(model.C)).re.sum(4)).to(x.options());  // [B, H, e, e]
    return read(q_proj_->forward(x), y + D_.view({H_, 1, 1}) * products);
  }

  void initialise(const nn::Draw& draw, const std::string& prefix) override {
    draw.normal(ssm_k_D_, prefix + "ssm_k_D", 1.0);
    draw.normal(D_, prefix + "D", 1.0);
  }

 private:
  Tensor mix(const Tensor& x, const ops::Positions& positions) {
    const std::int64_t B = x.size(0), L = x.size(1), taps = std::min(L, longest_);
    const Tensor k = ops::long_conv(k_proj_->forward(x), with_skip(shift_->forward(std::min(N_, taps)), ssm_k_D_));
    const Tensor v = ops::tap(ops::TapPoint::values, v_proj_->forward(x).unflatten(2, {H_, e_}), *this).flatten(2);
    const Tensor products = outer(k, v).reshape({B, L, H_ * e_ * e_});  // [B, L, H e e]
    // All e * e products of a head are convolved alike.
    const Tensor kernel = with_skip(diagonal_->forward(taps, x), D_).repeat_interleave(e_ * e_, 1);  // [taps, H e e]
    // [B, L, H, e, e]: rows of k, columns of v.
    const Tensor y = ops::long_conv(products, kernel).view({B, L, H_, e_, e_});
    return read(q_proj_->forward(positions.of(x)), positions.of(y));
  }

  // [..., D] and [..., D] -> [..., H, e, e]; channel = h * e + i.
  Tensor outer(const Tensor& k, const Tensor& v) const {
    return k.unflatten(-1, {H_, e_}).unsqueeze(-1) * v.unflatten(-1, {H_, e_}).unsqueeze(-2);
  }

  // Queries read the first index. The order of channels turns: h * e + i goes in, i * H + h comes out.
  Tensor read(const Tensor& q, const Tensor& y) {
    const Tensor o = (q.unflatten(-1, {H_, e_}).unsqueeze(-1) * y).sum(-2);  // [..., H, e]
    return output_linear_->forward(ops::tap(ops::TapPoint::mixed, o, *this).transpose(-2, -1).flatten(-2));
  }

  std::int64_t width_, e_, H_, N_, longest_;
  Tensor ssm_k_D_, D_;  // [D], [H]
  ops::Linear q_proj_{nullptr}, k_proj_{nullptr}, v_proj_{nullptr}, output_linear_{nullptr};
  std::shared_ptr<ShiftKernel> shift_;
  std::shared_ptr<DiagonalModel> diagonal_;
};

}  // namespace

MixerPointer build_h3(const catalog::MixerContext& context, const Options& options) {
  return std::make_shared<H3>(context, options);
}

}  // namespace mneme::mixers
