#include "mixers/list.h"

#include <cmath>

#include "catalog/mamba2.h"
#include "nn/depthwise_conv.h"
#include "nn/rms_norm.h"
#include "nn/step_size.h"
#include "ops/gated_scan.h"
#include "ops/linear.h"
#include "ops/tap.h"

namespace mneme::mixers {
namespace {

class Mamba2 : public Mixer, public nn::SelfInitialised {
 public:
  Mamba2(const catalog::MixerContext& context, const Options& options)
      : w_(catalog::mamba2_widths(context, options)),
        norm_before_gate_(options.flag("norm_before_gate")),
        step_sizes_(options) {
    const std::int64_t D = context.width;
    const auto linear = [&](const char* name, std::int64_t in, std::int64_t out) {
      return register_module(name, ops::Linear(torch::nn::LinearOptions(in, out).bias(options.flag("bias"))));
    };
    in_proj_ = linear("in_proj", D, w_.inner + w_.convolved() + w_.heads);
    conv1d_ = register_module("conv1d", std::make_shared<nn::DepthwiseConv>(w_.convolved(), options.integer("d_conv"),
                                                                            options.flag("conv_bias")));
    dt_bias_ = register_parameter("dt_bias", torch::zeros({w_.heads}));
    A_log_ = register_parameter("A_log", torch::zeros({w_.heads}));
    skip_ = register_parameter("D", torch::ones({options.flag("D_has_hdim") ? w_.inner : w_.heads}));
    const std::int64_t parts = options.text("norm_group_size") == "d_inner" ? 1 : w_.groups;
    norm_ = register_module("norm", std::make_shared<nn::RmsNorm>(w_.inner, options.real("norm_eps"), true, parts));
    out_proj_ = linear("out_proj", w_.inner, D);
  }

  torch::Tensor forward(const torch::Tensor& x, nn::Pass&) override { return mix(x, ops::Positions()); }

  torch::Tensor forward_at(const torch::Tensor& x, const torch::Tensor& positions, nn::Pass&) override {
    return mix(x, ops::Positions(positions));
  }

  bool has_step() const override { return true; }

  // S [B, H, N, P], then the window of the convolution.
  MixerState initial_state(std::int64_t batch) const override {
    return {{torch::zeros({batch, w_.heads, w_.state, w_.head}, A_log_.options().requires_grad(false)),
             conv1d_->initial_window(batch)}};
  }

  Recurrence recurrence() const override { return {.tensors = {0}, .coupled = {}}; }
  bool is_window(std::size_t tensor) const override { return tensor == 1; }
  torch::Tensor step(MixerState& state, const torch::Tensor& x) override {
    const auto [z, convolved, dt] = projected(x);  // [B, E], [B, E + 2 G N], [B, H]
    const auto [q, k, u] = streams(conv1d_->step(state.tensors[1], convolved, nn::ConvEnd::silu));
    const torch::Tensor delta = torch::softplus(dt + dt_bias_);  // [B, H]
    return output(ops::gated_scan_step(state.tensors[0], q, k, u * delta.unsqueeze(-1), delta * A()), u, z);
  }

  void initialise(const nn::Draw& draw, const std::string& prefix) override {
    draw.values(A_log_, prefix + "A_log",
                [](Random& random, std::int64_t) { return std::log(1.0 + 15.0 * random.uniform()); });
    draw.values(dt_bias_, prefix + "dt_bias",
                [this](Random& random, std::int64_t) { return step_sizes_.draw(random); });
    draw.constant(skip_, 1.0);
  }

 private:
  torch::Tensor mix(const torch::Tensor& x, const ops::Positions& positions) {
    const auto [z, convolved, dt] = projected(x, positions);  // [.., E], [B, L, E + 2 G N], [B, L, H]
    const auto [q, k, inputs] = streams(conv1d_->forward(with_tap(convolved), nn::ConvEnd::silu));
    const torch::Tensor u = ops::tap(ops::TapPoint::values, inputs, *this);           // [B, L, H, P]
    const torch::Tensor delta = torch::softplus(dt + dt_bias_);                       // [B, L, H]
    const torch::Tensor o = ops::gated_scan(q, k, u, delta * A(), delta, positions);  // [B, L, H, P] or [R, H, P]
    return output(o, positions.of(u), z);
  }

  torch::Tensor A() const { return -torch::exp(A_log_); }  // [H]

  // Of what is convolved, the part that becomes the inputs is tapped.
  torch::Tensor with_tap(const torch::Tensor& convolved) const {
    if (!ops::is_tapped()) return convolved;
    const auto parts = convolved.split_with_sizes({w_.inner, w_.convolved() - w_.inner}, -1);
    return torch::cat({ops::tap(ops::TapPoint::unmixed, parts[0], *this), parts[1]}, -1);
  }

  // z at the given positions, then what is convolved, then the raw step sizes.
  std::array<torch::Tensor, 3> projected(const torch::Tensor& x, const ops::Positions& positions = {}) {
    if (positions.are_all()) {
      const auto parts = in_proj_->forward(x).split_with_sizes({w_.inner, w_.convolved(), w_.heads}, -1);
      return {parts[0], parts[1], parts[2]};
    }
    const auto parts =
        in_proj_->part(x, w_.inner, w_.convolved() + w_.heads).split_with_sizes({w_.convolved(), w_.heads}, -1);
    return {in_proj_->part(positions.of(x), 0, w_.inner), parts[0], parts[1]};
  }

  // C as queries and B as keys [.., G, N], the inputs [.., H, P].
  std::array<torch::Tensor, 3> streams(const torch::Tensor& convolved) const {
    const std::int64_t shared = w_.groups * w_.state;
    const auto parts = convolved.split_with_sizes({w_.inner, shared, shared}, -1);
    return {parts[2].unflatten(-1, {w_.groups, w_.state}), parts[1].unflatten(-1, {w_.groups, w_.state}),
            parts[0].unflatten(-1, {w_.heads, w_.head})};
  }

  torch::Tensor output(const torch::Tensor& o, const torch::Tensor& u, const torch::Tensor& z) {
    // [H, 1] or [H, P]
    const torch::Tensor skip = skip_.size(0) == w_.heads ? skip_.unsqueeze(1) : skip_.view({w_.heads, w_.head});
    const torch::Tensor y = ops::tap(ops::TapPoint::mixed, torch::addcmul(o, u, skip), *this).flatten(-2);  // [.., E]
    return out_proj_->forward(norm_->forward(y, z, norm_before_gate_ ? ops::GatePlace::after : ops::GatePlace::before));
  }

  catalog::Mamba2Widths w_;
  bool norm_before_gate_;
  nn::StepSizes step_sizes_;
  ops::Linear in_proj_{nullptr}, out_proj_{nullptr};
  std::shared_ptr<nn::DepthwiseConv> conv1d_;
  std::shared_ptr<nn::RmsNorm> norm_;
  torch::Tensor dt_bias_, A_log_;  // [H]
  torch::Tensor skip_;             // [H], or [E]
};

}  // namespace

MixerPointer build_mamba2(const catalog::MixerContext& context, const Options& options) {
  return std::make_shared<Mamba2>(context, options);
}

}  // namespace mneme::mixers
