#include "mixers/list.h"

#include <cmath>

#include "ops/linear.h"
#include "ops/long_conv.h"
#include "ops/tap.h"

namespace mneme::mixers {
namespace {

// s_t = a s_{t-1} + (1 - a) x_t for each channel, a = sigmoid(decay);  y_t = W s_t.
class Ema : public Mixer, public nn::SelfInitialised {
 public:
  Ema(const catalog::MixerContext& context, const Options& options) : start_(options.real("decay")) {
    decay_ = register_parameter("decay", torch::zeros({context.width}));
    out_ = register_module("out_proj", ops::Linear(torch::nn::LinearOptions(context.width, context.width).bias(false)));
  }

  // The recurrence unrolled: a convolution with (1 - a) a^j.
  torch::Tensor forward(const torch::Tensor& x, nn::Pass&) override {
    const torch::Tensor past = torch::arange(x.size(1), x.options().requires_grad(false)).unsqueeze(1);        // [L, 1]
    const torch::Tensor filter = torch::exp(torch::log_sigmoid(-decay_) + past * torch::log_sigmoid(decay_));  // [L, D]
    const torch::Tensor values = ops::tap(ops::TapPoint::values, x, *this);  // what `mneme inspect` calls values
    return out_->forward(ops::tap(ops::TapPoint::mixed, ops::long_conv(values, filter), *this));
  }

  bool has_step() const override { return true; }
  MixerState initial_state(std::int64_t batch) const override {
    return {{torch::zeros({batch, decay_.size(0)}, decay_.options().requires_grad(false))}};
  }
  torch::Tensor step(MixerState& state, const torch::Tensor& x) override {
    state.tensors[0] = torch::lerp(x, state.tensors[0], torch::sigmoid(decay_));  // [B, D]
    return out_->forward(state.tensors[0]);
  }

  // Channels start with different memories: the logits of their decays are spread around that of the option.
  void initialise(const nn::Draw& draw, const std::string& prefix) override {
    const double centre = std::log(start_ / (1 - start_));
    draw.values(decay_, prefix + "decay", [&](Random& random, std::int64_t) { return centre + 2 * random.normal(); });
  }

 private:
  double start_;
  torch::Tensor decay_;  // [D]
  ops::Linear out_{nullptr};
};

}  // namespace

MixerPointer build_ema(const catalog::MixerContext& context, const Options& options) {
  return std::make_shared<Ema>(context, options);
}

}  // namespace mneme::mixers
