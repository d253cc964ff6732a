#include "mixers/list.h"

#include <cmath>

#include "catalog/mamba.h"
#include "nn/depthwise_conv.h"
#include "nn/step_size.h"
#include "ops/linear.h"
#include "ops/selective_scan.h"
#include "ops/tap.h"

namespace mneme::mixers {
namespace {

// A Linear that keeps its own initialisation: its bias sets the step sizes, and no scheme may redraw it.
class StepProjection : public ops::LinearImpl, public nn::SelfInitialised {
 public:
  StepProjection(std::int64_t in, std::int64_t out, const nn::StepSizes& sizes)
      : ops::LinearImpl(in, out), sizes_(sizes) {}

  void initialise(const nn::Draw& draw, const std::string& prefix) override {
    draw.uniform(weight, prefix + "weight", 1.0 / std::sqrt(static_cast<double>(weight.size(1))));
    draw.values(bias, prefix + "bias", [this](Random& random, std::int64_t) { return sizes_.draw(random); });
  }

 private:
  nn::StepSizes sizes_;
};

class Mamba : public Mixer, public nn::SelfInitialised {
 public:
  Mamba(const catalog::MixerContext& context, const Options& options) {
    const std::int64_t D = context.width;
    const bool bias = options.flag("bias");
    gate_ = options.flag("gate");
    E_ = options.integer("expand") * D;
    N_ = options.integer("d_state");
    R_ = catalog::mamba_dt_rank(context, options);
    using torch::nn::LinearOptions;
    in_proj_ = register_module("in_proj", ops::Linear(LinearOptions(D, gate_ ? 2 * E_ : E_).bias(bias)));
    if (options.flag("conv"))
      conv1d_ = register_module(
          "conv1d", std::make_shared<nn::DepthwiseConv>(E_, options.integer("d_conv"), options.flag("conv_bias")));
    x_proj_ = register_module("x_proj", ops::Linear(LinearOptions(E_, R_ + 2 * N_).bias(false)));
    if (options.flag("keep_dt_init"))
      dt_proj_ = register_module("dt_proj", std::make_shared<StepProjection>(R_, E_, nn::StepSizes(options)));
    else
      dt_proj_ = register_module("dt_proj", std::make_shared<ops::LinearImpl>(R_, E_));
    A_log_ =
        register_parameter("A_log", torch::log(torch::arange(1, N_ + 1, torch::kFloat32)).expand({E_, N_}).clone());
    skip_ = register_parameter("D", torch::ones({E_}));
    out_proj_ = register_module("out_proj", ops::Linear(LinearOptions(E_, D).bias(bias)));
  }

  torch::Tensor forward(const torch::Tensor& x, nn::Pass&) override {
    const auto [u, z] = streams(x);  // [B, L, E] each
    return out_proj_->forward(scan(u, z));
  }

  // The gate and the output projection are needed at the labelled positions only.
  torch::Tensor forward_at(const torch::Tensor& x, const torch::Tensor& positions, nn::Pass&) override {
    const torch::Tensor y =
        ops::select_positions(scan(gate_ ? in_proj_->part(x, 0, E_) : in_proj_->forward(x), {}), positions);  // [R, E]
    return out_proj_->forward(gate_ ? y * torch::silu(in_proj_->part(ops::select_positions(x, positions), E_, E_)) : y);
  }

  bool has_step() const override { return true; }

  // h [B, E, N], then the window of the convolution.
  MixerState initial_state(std::int64_t batch) const override {
    MixerState state;
    state.tensors.push_back(torch::zeros({batch, E_, N_}, A_log_.options().requires_grad(false)));
    if (conv1d_) state.tensors.push_back(conv1d_->initial_window(batch));
    return state;
  }

  Recurrence recurrence() const override { return {.tensors = {0}, .coupled = {}}; }
  bool is_window(std::size_t tensor) const override { return tensor == 1; }
  torch::Tensor step(MixerState& state, const torch::Tensor& x) override {
    auto [u, z] = streams(x);  // [B, E] each
    u = conv1d_ ? conv1d_->step(state.tensors[1], u, nn::ConvEnd::silu) : torch::silu(u);
    const auto [pre, Bm, Cm] = selection(u);  // [.., E], [.., N] twice
    return out_proj_->forward(ops::selective_scan_step(state.tensors[0], u, pre, A(), Bm, Cm, skip_, z));
  }

  void initialise(const nn::Draw& draw, const std::string& prefix) override {
    draw.values(A_log_, prefix + "A_log",
                [N = N_](Random&, std::int64_t i) { return std::log(static_cast<double>(i % N + 1)); });
    draw.constant(skip_, 1.0);
  }

 private:
  torch::Tensor A() const { return -torch::exp(A_log_); }  // [E, N]

  // Everything after the projection, up to the gate z, which may be undefined.
  torch::Tensor scan(const torch::Tensor& in, const torch::Tensor& z) {
    const torch::Tensor u =  // [B, L, E]
        conv1d_ ? conv1d_->forward(ops::tap(ops::TapPoint::unmixed, in, *this), nn::ConvEnd::silu) : torch::silu(in);
    const auto [pre, Bm, Cm] = selection(u);                                 // [.., E], [.., N] twice
    const torch::Tensor values = ops::tap(ops::TapPoint::values, u, *this);  // [B, L, E]
    return ops::tap(ops::TapPoint::mixed, ops::selective_scan(values, pre, A(), Bm, Cm, skip_, z), *this);
  }

  // x first, then z; undefined without gate.
  std::pair<torch::Tensor, torch::Tensor> streams(const torch::Tensor& x) {
    const torch::Tensor xz = in_proj_->forward(x);  // [.., 2E], or [.., E] without gate
    if (!gate_) return {xz, {}};
    const auto parts = xz.split(E_, -1);  // [.., E] each
    return {parts[0], parts[1]};
  }

  // Step size before softplus [.., E], Bm and Cm [.., N], all chosen by the token.
  std::array<torch::Tensor, 3> selection(const torch::Tensor& u) {
    const auto parts = x_proj_->forward(u).split_with_sizes({R_, N_, N_}, -1);  // [.., R], [.., N] twice
    return {dt_proj_->forward(parts[0]), parts[1], parts[2]};
  }

  bool gate_ = true;
  std::int64_t E_ = 0, N_ = 0, R_ = 0;
  ops::Linear in_proj_{nullptr}, x_proj_{nullptr}, out_proj_{nullptr};
  std::shared_ptr<ops::LinearImpl> dt_proj_;
  std::shared_ptr<nn::DepthwiseConv> conv1d_;
  torch::Tensor A_log_;  // [E, N]
  torch::Tensor skip_;   // [E]
};

}  // namespace

MixerPointer build_mamba(const catalog::MixerContext& context, const Options& options) {
  return std::make_shared<Mamba>(context, options);
}

}  // namespace mneme::mixers
