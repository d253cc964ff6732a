#include "mixers/list.h"

#include <cmath>

#include "catalog/rwkv.h"
#include "nn/token_shift.h"
#include "ops/linear.h"
#include "ops/rwkv5.h"
#include "ops/tap.h"

namespace mneme::mixers {
namespace {

constexpr double kNormEps = 1e-5;

class Rwkv5 : public Mixer, public nn::SelfInitialised {
 public:
  Rwkv5(const catalog::MixerContext& context, const Options& options)
      : D_(context.width),
        N_(catalog::rwkv_head_size(context, options, "head_size")),
        H_(D_ / N_),
        divisor_(options.real("head_size_divisor")),
        ratios_(context.layer, context.layers) {
    for (const char* name : {"k", "v", "r", "g"})
      mix_[name] = register_parameter(std::string("time_mix_") + name, torch::zeros({1, 1, D_}));
    time_decay_ = register_parameter("time_decay", torch::zeros({H_, N_}));
    time_faaaa_ = register_parameter("time_faaaa", torch::zeros({H_, N_}));
    const auto projection = [&](const char* name) {
      return register_module(name, ops::Linear(torch::nn::LinearOptions(D_, D_).bias(false)));
    };
    receptance_ = projection("receptance");
    key_ = projection("key");
    value_ = projection("value");
    output_ = projection("output");
    gate_ = projection("gate");
    ln_x_ = register_module("ln_x", torch::nn::GroupNorm(torch::nn::GroupNormOptions(H_, D_)));
  }

  torch::Tensor forward(const torch::Tensor& x, nn::Pass&) override {
    const Streams s = streams(nn::token_blends(x, shares()));
    const torch::Tensor v = ops::tap(ops::TapPoint::values, s.v, *this);  // [B, L, H, N]
    return output(ops::tap(ops::TapPoint::mixed, ops::rwkv5_scan(s.r, s.k, v, decay(), time_faaaa_), *this), s.g);
  }

  bool has_step() const override { return true; }

  // S [B, H, N, N] and the previous input.
  MixerState initial_state(std::int64_t batch) const override {
    const auto options = time_decay_.options().requires_grad(false);
    return {{torch::zeros({batch, H_, N_, N_}, options), torch::zeros({batch, D_}, options)}};
  }

  Recurrence recurrence() const override { return {.tensors = {0}, .coupled = {}}; }
  bool is_window(std::size_t tensor) const override { return tensor == 1; }
  torch::Tensor step(MixerState& state, const torch::Tensor& x) override {
    const Streams s = streams(nn::token_blends(x.unsqueeze(1), state.tensors[1].unsqueeze(1), shares()));
    const torch::Tensor y =  // [B, H, N]
        ops::rwkv5_step(state.tensors[0], s.r.select(1, 0), s.k.select(1, 0), s.v.select(1, 0), decay(), time_faaaa_);
    state.tensors[1] = x;
    return output(y.unsqueeze(1), s.g).squeeze(1);
  }

  void initialise(const nn::Draw& draw, const std::string& prefix) override {
    const auto mix = [&](const std::string& name, double power, double extra) {
      draw.values(mix_.at(name), prefix + "time_mix_" + name, [&](Random&, std::int64_t c) {
        return std::pow(static_cast<double>(c) / static_cast<double>(D_), power) + extra;
      });
    };
    mix("k", ratios_.falling, 0.0);
    mix("v", ratios_.falling, 0.3 * ratios_.rising);
    mix("r", 0.5 * ratios_.falling, 0.0);
    mix("g", 0.5 * ratios_.falling, 0.0);
    draw.values(time_decay_, prefix + "time_decay", [&](Random&, std::int64_t c) {
      return -6.0 + 5.0 * std::pow(nn::channel_position(c, D_), 0.7 + 1.3 * ratios_.rising);
    });
    draw.values(time_faaaa_, prefix + "time_faaaa", [&](Random&, std::int64_t c) {
      return ratios_.rising * (1.0 - nn::channel_position(c, D_)) + 0.1 * static_cast<double>((c + 1) % 3 - 1);
    });
  }

 private:
  struct Streams {
    torch::Tensor r, k, v;  // [B, L, H, N]
    torch::Tensor g;        // [B, L, D]
  };

  torch::Tensor decay() const { return torch::exp(-torch::exp(time_decay_)); }  // [H, N]

  // The weights are those of the token itself, its predecessor has the rest.
  std::vector<torch::Tensor> shares() const {
    return {1.0 - mix_.at("r"), 1.0 - mix_.at("k"), 1.0 - mix_.at("v"), 1.0 - mix_.at("g")};
  }

  Streams streams(const std::vector<torch::Tensor>& blends) {
    const auto heads = [&](const torch::Tensor& y) { return y.unflatten(2, {H_, N_}); };
    return {heads(receptance_->forward(blends[0])), heads(key_->forward(blends[1])), heads(value_->forward(blends[2])),
            torch::silu(gate_->forward(blends[3]))};
  }

  torch::Tensor output(const torch::Tensor& y, const torch::Tensor& g) {
    const torch::Tensor normal = torch::layer_norm(y / divisor_, {N_}, {}, {}, kNormEps).flatten(2);  // [B, L, D]
    return output_->forward((normal * ln_x_->weight + ln_x_->bias) * g);
  }

  std::int64_t D_, N_, H_;
  double divisor_;
  nn::LayerRatios ratios_;
  std::map<std::string, torch::Tensor> mix_;  // [1, 1, D] each
  torch::Tensor time_decay_, time_faaaa_;     // [H, N]
  ops::Linear receptance_{nullptr}, key_{nullptr}, value_{nullptr}, output_{nullptr}, gate_{nullptr};
  torch::nn::GroupNorm ln_x_{nullptr};
};

}  // namespace

MixerPointer build_rwkv5(const catalog::MixerContext& context, const Options& options) {
  return std::make_shared<Rwkv5>(context, options);
}

}  // namespace mneme::mixers
