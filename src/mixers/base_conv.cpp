#include "mixers/list.h"

#include <cmath>

#include "catalog/base_conv.h"
#include "nn/depthwise_conv.h"
#include "ops/linear.h"
#include "ops/long_conv.h"
#include "ops/tap.h"

namespace mneme::mixers {
namespace {

// y = conv(x), both [B, L, D], with its own parameters and state; a step takes and returns [B, D].
class Convolution : public torch::nn::Module {
 public:
  virtual torch::Tensor forward(const torch::Tensor& x) = 0;
  virtual torch::Tensor initial_state(std::int64_t batch) const = 0;
  virtual torch::Tensor step(torch::Tensor& state, const torch::Tensor& x) = 0;
};

class ShortConvolution : public Convolution {
 public:
  ShortConvolution(std::int64_t D, std::int64_t taps) {
    conv_ = register_module("conv", std::make_shared<nn::DepthwiseConv>(D, taps, true));
  }
  torch::Tensor forward(const torch::Tensor& x) override { return conv_->forward(x); }
  torch::Tensor initial_state(std::int64_t batch) const override { return conv_->initial_window(batch); }
  torch::Tensor step(torch::Tensor& state, const torch::Tensor& x) override { return conv_->step(state, x); }

 private:
  std::shared_ptr<nn::DepthwiseConv> conv_;
};

// conv(x) = filter * x + x. Taps beyond l_max are zero: there are no parameters for them.
class LongConvolution : public Convolution {
 public:
  torch::Tensor forward(const torch::Tensor& x) override {
    return ops::long_conv(x, filter(std::min(x.size(1), l_max_))) + x;
  }

  // All past inputs [B, tokens so far, D]: no finite recurrence exists.
  torch::Tensor initial_state(std::int64_t batch) const override {
    return torch::zeros({batch, 0, D_}, parameters()[0].options().requires_grad(false));
  }
  torch::Tensor step(torch::Tensor& state, const torch::Tensor& x) override {
    state = torch::cat({state, x.unsqueeze(1)}, 1);  // [B, tokens so far, D]
    const std::int64_t tokens = std::min(state.size(1), l_max_);
    const torch::Tensor recent = state.narrow(1, state.size(1) - tokens, tokens);  // [B, tokens, D]
    return (recent * filter(tokens).flip(0)).sum(1) + x;
  }

 protected:
  LongConvolution(std::int64_t D, std::int64_t l_max) : D_(D), l_max_(l_max) {}
  // The first `taps` taps, [taps, D].
  virtual torch::Tensor filter(std::int64_t taps) = 0;

  std::int64_t D_, l_max_;
};

class ExplicitFilter : public LongConvolution, public nn::SelfInitialised {
 public:
  ExplicitFilter(std::int64_t D, std::int64_t l_max) : LongConvolution(D, l_max) {
    filter_ = register_parameter("filter", torch::zeros({D, l_max}));
  }
  void initialise(const nn::Draw& draw, const std::string& prefix) override {
    draw.normal(filter_, prefix + "filter", 1.0);
  }

 private:
  torch::Tensor filter(std::int64_t taps) override { return filter_.narrow(1, 0, taps).t(); }

  torch::Tensor filter_;  // [D, l_max]
};

class ImplicitFilter : public LongConvolution {
 public:
  ImplicitFilter(std::int64_t D, std::int64_t l_max) : LongConvolution(D, l_max) {
    mlp_ = register_module("mlp", std::make_shared<torch::nn::Module>());
    first_ = mlp_->register_module("0", ops::Linear(3, 16));
    second_ = mlp_->register_module("2", ops::Linear(16, D));
  }

 private:
  torch::Tensor filter(std::int64_t taps) override {
    return second_->forward(torch::relu(first_->forward(positions(taps))));
  }

  // Time from 0 to 1, and one slow wave: [taps, 3].
  torch::Tensor positions(std::int64_t taps) const {
    const torch::Tensor t = torch::arange(taps, torch::kFloat64);                      // [taps]
    const torch::Tensor wave = t * (1e-4 * 2.0 * M_PI / static_cast<double>(l_max_));  // [taps]
    const torch::Tensor z = torch::stack(
        {t / static_cast<double>(std::max<std::int64_t>(l_max_ - 1, 1)), torch::cos(wave), -torch::sin(wave)},
        1);  // [taps, 3]
    return z.to(first_->weight.options().requires_grad(false));
  }

  std::shared_ptr<torch::nn::Module> mlp_;
  ops::Linear first_{nullptr}, second_{nullptr};
};

class BaseConv : public Mixer {
 public:
  BaseConv(const catalog::MixerContext& context, const Options& options) : use_act_(options.flag("use_act")) {
    const std::int64_t D = context.width, taps = catalog::base_conv_kernel_size(context, options);
    projection_ = register_module("projection", ops::Linear(D, D));
    if (taps > 0)
      conv_ = std::make_shared<ShortConvolution>(D, taps);
    else if (options.flag("implicit_long_conv"))
      conv_ = std::make_shared<ImplicitFilter>(D, context.length);
    else
      conv_ = std::make_shared<ExplicitFilter>(D, context.length);
    register_module("conv", conv_);
  }

  torch::Tensor forward(const torch::Tensor& x, nn::Pass&) override {
    const torch::Tensor y = conv_->forward(ops::tap(ops::TapPoint::values, x, *this));  // [B, L, D]
    return gated(ops::tap(ops::TapPoint::mixed, y, *this), x);
  }

  bool has_step() const override { return true; }
  MixerState initial_state(std::int64_t batch) const override { return {{conv_->initial_state(batch)}}; }
  bool is_window(std::size_t) const override { return dynamic_cast<const ShortConvolution*>(conv_.get()) != nullptr; }
  torch::Tensor step(MixerState& state, const torch::Tensor& x) override {
    return gated(conv_->step(state.tensors[0], x), x);
  }

 private:
  torch::Tensor gated(const torch::Tensor& y, const torch::Tensor& x) {
    const torch::Tensor p = projection_->forward(x);  // [.., D]
    return torch::addcmul(x, use_act_ ? torch::silu(y) : y, use_act_ ? torch::silu(p) : p);
  }

  bool use_act_;
  ops::Linear projection_{nullptr};
  std::shared_ptr<Convolution> conv_;
};

}  // namespace

MixerPointer build_base_conv(const catalog::MixerContext& context, const Options& options) {
  return std::make_shared<BaseConv>(context, options);
}

}  // namespace mneme::mixers
