#include "mixers/list.h"

#include <cmath>

#include "nn/own_linears.h"
#include "nn/token_shift.h"
#include "ops/linear.h"
#include "ops/tap.h"
#include "ops/wkv.h"

namespace mneme::mixers {
namespace {

ops::Linear projection(std::int64_t in, std::int64_t out) {
  return ops::Linear(torch::nn::LinearOptions(in, out).bias(false));
}

// What both mixes share: learned blends of a token with its predecessor.
class Shifted : public Mixer, public nn::SelfInitialised, public nn::OwnLinears {
 public:
  explicit Shifted(const catalog::MixerContext& context) : D_(context.width), ratios_(context.layer, context.layers) {}

  bool has_step() const override { return true; }

 protected:
  torch::Tensor register_mix(const std::string& name) { return register_parameter(name, torch::zeros({1, 1, D_})); }

  // (c / D)^power + extra
  void initialise_mix(const nn::Draw& draw, const std::string& prefix, const std::string& name, double power,
                      double extra) {
    draw.values(named_parameters(false)[name], prefix + name, [&](Random&, std::int64_t c) {
      return std::pow(static_cast<double>(c) / static_cast<double>(D_), power) + extra;
    });
  }

  std::int64_t D_;
  nn::LayerRatios ratios_;
};

class Rwkv4 : public Shifted {
 public:
  Rwkv4(const catalog::MixerContext& context, const Options&) : Shifted(context) {
    time_decay_ = register_parameter("time_decay", torch::zeros({D_}));
    time_first_ = register_parameter("time_first", torch::zeros({D_}));
    mix_k_ = register_mix("time_mix_k");
    mix_v_ = register_mix("time_mix_v");
    mix_r_ = register_mix("time_mix_r");
    key_ = register_module("key", projection(D_, D_));
    value_ = register_module("value", projection(D_, D_));
    receptance_ = register_module("receptance", projection(D_, D_));
    output_ = register_module("output", projection(D_, D_));
  }

  torch::Tensor forward(const torch::Tensor& x, nn::Pass&) override { return mix(x, ops::Positions()); }

  torch::Tensor forward_at(const torch::Tensor& x, const torch::Tensor& positions, nn::Pass&) override {
    return mix(x, ops::Positions(positions));
  }

  // p, q, o of the average, and the previous input.
  MixerState initial_state(std::int64_t batch) const override {
    const auto options = time_decay_.options().requires_grad(false);
    const ops::WkvState past = ops::WkvState::initial(batch, D_, options);
    return {{past.p, past.q, past.o, torch::zeros({batch, D_}, options)}};
  }

  Recurrence recurrence() const override { return {.tensors = {0}, .coupled = {}, .exponent = 2}; }
  bool is_window(std::size_t tensor) const override { return tensor == 3; }
  torch::Tensor step(MixerState& state, const torch::Tensor& x) override {
    const auto [k, v, r] = streams(nn::token_blends(x.unsqueeze(1), state.tensors[3].unsqueeze(1), shares()));
    ops::WkvState past{state.tensors[0], state.tensors[1], state.tensors[2]};
    const torch::Tensor y = ops::wkv_step(past, k.squeeze(1), v.squeeze(1), decay(), time_first_);  // [B, D]
    state.tensors = {past.p, past.q, past.o, x};
    return output_->forward(r.squeeze(1) * y);
  }

  void initialise(const nn::Draw& draw, const std::string& prefix) override {
    draw.values(time_decay_, prefix + "time_decay", [&](Random&, std::int64_t c) {
      return -5.0 + 8.0 * std::pow(nn::channel_position(c, D_), 0.7 + 1.3 * ratios_.rising);
    });
    draw.values(time_first_, prefix + "time_first",
                [](Random&, std::int64_t c) { return std::log(0.3) + 0.5 * static_cast<double>((c + 1) % 3 - 1); });
    initialise_mix(draw, prefix, "time_mix_k", ratios_.falling, 0.0);
    initialise_mix(draw, prefix, "time_mix_v", ratios_.falling, 0.3 * ratios_.rising);
    initialise_mix(draw, prefix, "time_mix_r", 0.5 * ratios_.falling, 0.0);
  }

  void initialise_linears(const nn::Draw& draw, const std::string& prefix) override {
    for (const auto& linear : {key_, receptance_, output_}) draw.constant(linear->weight, 0.0);
    nn::draw_orthogonal(draw, value_->weight, prefix + "value.weight", 1.0);
  }

 private:
  torch::Tensor mix(const torch::Tensor& x, const ops::Positions& positions) {
    std::vector<torch::Tensor> blends = nn::token_blends(x, shares());  // three [B, L, D]
    blends[2] = positions.of(blends[2]);
    const auto [k, v, r] = streams(blends);  // [B, L, D], r also [R, D]
    const torch::Tensor y = ops::wkv(k, ops::tap(ops::TapPoint::values, v, *this), decay(), time_first_);  // [B, L, D]
    return output_->forward(ops::tap(ops::TapPoint::mixed, r * positions.of(y), *this));
  }

  torch::Tensor decay() const { return -torch::exp(time_decay_); }  // [D]

  // The weights are those of the token itself, its predecessor has the rest.
  std::vector<torch::Tensor> shares() const { return {1.0 - mix_k_, 1.0 - mix_v_, 1.0 - mix_r_}; }

  // k, v, r [.., D]
  std::array<torch::Tensor, 3> streams(const std::vector<torch::Tensor>& blends) {
    return {key_->forward(blends[0]), value_->forward(blends[1]), torch::sigmoid(receptance_->forward(blends[2]))};
  }

  torch::Tensor time_decay_, time_first_, mix_k_, mix_v_, mix_r_;  // [D] twice, [1, 1, D] three times
  ops::Linear key_{nullptr}, value_{nullptr}, receptance_{nullptr}, output_{nullptr};
};

class Rwkv4ChannelMix : public Shifted {
 public:
  Rwkv4ChannelMix(const catalog::MixerContext& context, const Options& options) : Shifted(context) {
    const std::int64_t hidden = options.integer("hidden_mult") * D_;
    mix_k_ = register_mix("time_mix_k");
    mix_r_ = register_mix("time_mix_r");
    key_ = register_module("key", projection(D_, hidden));
    receptance_ = register_module("receptance", projection(D_, D_));
    value_ = register_module("value", projection(hidden, D_));
  }

  torch::Tensor forward(const torch::Tensor& x, nn::Pass&) override { return mix(nn::token_blends(x, shares())); }

  // The previous input.
  MixerState initial_state(std::int64_t batch) const override {
    return {{torch::zeros({batch, D_}, mix_k_.options().requires_grad(false))}};
  }

  bool is_window(std::size_t tensor) const override { return tensor == 0; }
  torch::Tensor step(MixerState& state, const torch::Tensor& x) override {
    // [B, D]
    const torch::Tensor y = mix(nn::token_blends(x.unsqueeze(1), state.tensors[0].unsqueeze(1), shares())).squeeze(1);
    state.tensors[0] = x;
    return y;
  }

  void initialise(const nn::Draw& draw, const std::string& prefix) override {
    for (const char* name : {"time_mix_k", "time_mix_r"}) initialise_mix(draw, prefix, name, ratios_.falling, 0.0);
  }

  void initialise_linears(const nn::Draw& draw, const std::string&) override {
    for (const auto& linear : {value_, receptance_}) draw.constant(linear->weight, 0.0);
  }

 private:
  std::vector<torch::Tensor> shares() const { return {1.0 - mix_k_, 1.0 - mix_r_}; }

  torch::Tensor mix(const std::vector<torch::Tensor>& blends) {
    const torch::Tensor k = torch::relu(key_->forward(blends[0]));  // [B, L, hidden]
    return torch::sigmoid(receptance_->forward(blends[1])) * value_->forward(k * k);
  }

  torch::Tensor mix_k_, mix_r_;  // [1, 1, D]
  ops::Linear key_{nullptr}, receptance_{nullptr}, value_{nullptr};
};

}  // namespace

MixerPointer build_rwkv4(const catalog::MixerContext& context, const Options& options) {
  return std::make_shared<Rwkv4>(context, options);
}

MixerPointer build_rwkv4_channel_mix(const catalog::MixerContext& context, const Options& options) {
  return std::make_shared<Rwkv4ChannelMix>(context, options);
}

}  // namespace mneme::mixers
