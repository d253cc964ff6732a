#include "mixers/list.h"

#include <cmath>

#include "catalog/rwkv.h"
#include "core/error.h"
#include "nn/low_rank.h"
#include "nn/own_linears.h"
#include "nn/token_shift.h"
#include "ops/linear.h"
#include "ops/rwkv7.h"
#include "ops/tap.h"

namespace mneme::mixers {
namespace {

constexpr std::string_view kStreams = "rwkvag";

class Rwkv7 : public Mixer, public nn::SelfInitialised, public nn::OwnLinears {
 public:
  Rwkv7(const catalog::MixerContext& context, const Options& options)
      : D_(context.width),
        N_(catalog::rwkv_head_size(context, options, "head_dim")),
        H_(D_ / N_),
        eps_(static_cast<double>(N_) * options.real("norm_eps")),
        norm_start_(std::pow(static_cast<double>(context.layer + 1) / static_cast<double>(context.layers), 0.7)),
        first_(context.earlier == 0),
        ratios_(context.layer, context.layers) {
    for (const char name : kStreams)
      mix_[std::string(1, name)] = register_parameter(std::string("x_") + name, torch::zeros({1, 1, D_}));
    k_k_ = register_parameter("k_k", torch::zeros({D_}));
    k_a_ = register_parameter("k_a", torch::zeros({D_}));
    r_k_ = register_parameter("r_k", torch::zeros({H_, N_}));
    const auto projection = [&](const char* name) {
      return register_module(name, ops::Linear(torch::nn::LinearOptions(D_, D_).bias(false)));
    };
    r_proj_ = projection("r_proj");
    k_proj_ = projection("k_proj");
    v_proj_ = projection("v_proj");
    o_proj_ = projection("o_proj");
    const catalog::Rwkv7Ranks ranks = catalog::rwkv7_ranks(context, options);
    using Waist = nn::LowRank::Waist;
    w_lora_ = register_module("w_lora", std::make_shared<nn::LowRank>(D_, ranks.decay, D_, Waist::tanh, true));
    a_lora_ = register_module("a_lora", std::make_shared<nn::LowRank>(D_, ranks.a, D_, Waist::identity, true));
    g_lora_ = register_module("g_lora", std::make_shared<nn::LowRank>(D_, ranks.gate, D_, Waist::sigmoid, false));
    if (ranks.v > 0)
      v_lora_ = register_module("v_lora", std::make_shared<nn::LowRank>(D_, ranks.v, D_, Waist::identity, true));
    g_norm_ = register_module("g_norm", torch::nn::GroupNorm(torch::nn::GroupNormOptions(H_, D_)));
  }

  torch::Tensor forward(const torch::Tensor& x, nn::Pass& pass) override {
    const Inputs in = inputs(nn::token_blends(x, shares()), pass);
    return output(in, ops::tap(ops::TapPoint::mixed, ops::rwkv7_scan(in.streams), *this));
  }

  bool has_step() const override { return true; }

  // S [B, H, N, N] and the previous input.
  MixerState initial_state(std::int64_t batch) const override {
    const auto options = k_k_.options().requires_grad(false);
    return {{torch::zeros({batch, H_, N_, N_}, options), torch::zeros({batch, D_}, options)}};
  }

  Recurrence recurrence() const override { return {.tensors = {0}, .coupled = {2}}; }
  bool is_window(std::size_t tensor) const override { return tensor == 1; }
  torch::Tensor step(MixerState& state, const torch::Tensor& x) override {
    nn::Pass pass = nn::Pass::evaluation();
    return step_in_stack(state, x, pass);
  }

  torch::Tensor step_in_stack(MixerState& state, const torch::Tensor& x, nn::Pass& pass) override {
    const Inputs in = inputs(nn::token_blends(x.unsqueeze(1), state.tensors[1].unsqueeze(1), shares()), pass);
    const torch::Tensor o = ops::rwkv7_step(state.tensors[0], in.streams, 0);  // [B, H, N]
    state.tensors[1] = x;
    return output(in, o.unsqueeze(1)).squeeze(1);
  }

  void initialise(const nn::Draw& draw, const std::string& prefix) override {
    const auto mix = [&](const std::string& name, double power) {
      draw.values(mix_.at(name), prefix + "x_" + name, [&](Random&, std::int64_t c) {
        return 1.0 - std::pow(static_cast<double>(c) / static_cast<double>(D_), power * ratios_.falling);
      });
    };
    for (const char* name : {"r", "g"}) mix(name, 0.2);
    for (const char* name : {"w", "a"}) mix(name, 0.9);
    for (const char* name : {"k", "v"}) mix(name, 0.7);
    const auto centred = [&](std::int64_t c) { return nn::channel_position(c, D_) - 0.5; };
    draw.values(k_k_, prefix + "k_k", [&](Random&, std::int64_t c) { return 0.71 - 0.1 * centred(c); });
    draw.constant(k_a_, 1.02);
    draw.constant(r_k_, -0.04);
    draw.constant(g_norm_->weight, norm_start_);
    draw.constant(g_norm_->bias, 0.0);

    // The square of the place within its head, mapped to [-1, 1], with its sign.
    const auto zigzag = [&](std::int64_t c) {
      const double place = 2.0 * nn::channel_position(c % N_, N_) - 1.0;
      return N_ > 1 ? place * std::abs(place) : 0.0;
    };
    w_lora_->initialise(draw, prefix + "w_lora.", [&](std::int64_t c) {
      return -6.0 + 6.0 * std::pow(nn::channel_position(c, D_), 1.0 + std::pow(ratios_.rising, 0.3)) + 0.5 +
             2.5 * zigzag(c);
    });
    a_lora_->initialise(draw, prefix + "a_lora.",
                        [&](std::int64_t c) { return -0.19 + 0.3 * zigzag(c) + 0.4 * centred(c); });
    g_lora_->initialise(draw, prefix + "g_lora.", [](std::int64_t) { return 0.0; });
    if (v_lora_) v_lora_->initialise(draw, prefix + "v_lora.", [&](std::int64_t c) { return 0.73 - 0.4 * centred(c); });
  }

  void initialise_linears(const nn::Draw& draw, const std::string& prefix) override {
    nn::draw_orthogonal(draw, r_proj_->weight, prefix + "r_proj.weight", 1.0);
    nn::draw_orthogonal(draw, k_proj_->weight, prefix + "k_proj.weight", 0.1);
    nn::draw_orthogonal(draw, v_proj_->weight, prefix + "v_proj.weight", 1.0);
    draw.constant(o_proj_->weight, 0.0);
  }

 private:
  struct Inputs {
    ops::Rwkv7Streams streams;
    torch::Tensor g;  // [B, L, D]
  };

  // v [B, L, D]: the first layer leaves its own in the pass, those above blend them in.
  torch::Tensor values(const torch::Tensor& x, nn::Pass& pass) {
    const torch::Tensor v = v_proj_->forward(x);  // [B, L, D]
    if (first_) pass.first_values = v;
    if (!v_lora_) return v;
    if (!pass.first_values.defined())
      throw Error(ErrorKind::usage, "rwkv7", "a layer above the first has not been given the first layer's values");
    return torch::lerp(v, pass.first_values, torch::sigmoid(v_lora_->forward(x)));
  }

  std::vector<torch::Tensor> shares() const {
    std::vector<torch::Tensor> result;
    for (const char name : kStreams) result.push_back(mix_.at(std::string(1, name)));
    return result;
  }

  Inputs inputs(const std::vector<torch::Tensor>& blends, nn::Pass& pass) {
    const auto mixed = [&](char name) { return blends[kStreams.find(name)]; };
    const auto heads = [&](const torch::Tensor& y) { return y.unflatten(2, {H_, N_}); };
    const torch::Tensor k = k_proj_->forward(mixed('k'));                  // [B, L, D]
    const torch::Tensor a = torch::sigmoid(a_lora_->forward(mixed('a')));  // in-context learning rate
    torch::Tensor kk = heads(k * k_k_);                                    // [B, L, H, N]
    kk = kk / kk.norm(2, {-1}, true).clamp_min(1e-12);                     // [B, L, H, N]
    Inputs in;
    in.streams.r = heads(r_proj_->forward(mixed('r')));  // [B, L, H, N], as all streams
    in.streams.w = heads(torch::sigmoid(w_lora_->forward(mixed('w')))) * -std::exp(-0.5);
    in.streams.k = heads(k * (1.0 + (a - 1.0) * k_a_));
    in.streams.v = ops::tap(ops::TapPoint::values, heads(values(mixed('v'), pass)), *this);
    in.streams.a = kk;
    in.streams.b = kk * heads(a);
    in.g = g_lora_->forward(mixed('g'));  // [B, L, D]
    return in;
  }

  torch::Tensor output(const Inputs& in, const torch::Tensor& o) {
    // [B, L, D], as newest
    const torch::Tensor normal = torch::layer_norm(o, {N_}, {}, {}, eps_).flatten(2) * g_norm_->weight + g_norm_->bias;
    const ops::Rwkv7Streams& s = in.streams;
    const torch::Tensor newest = ((s.r * s.k * r_k_).sum(-1, true) * s.v).flatten(2);
    return o_proj_->forward((normal + newest) * in.g);
  }

  std::int64_t D_, N_, H_;
  double eps_, norm_start_;
  bool first_;
  nn::LayerRatios ratios_;
  std::map<std::string, torch::Tensor> mix_;  // [1, 1, D] each
  torch::Tensor k_k_, k_a_, r_k_;             // [D], [D], [H, N]
  ops::Linear r_proj_{nullptr}, k_proj_{nullptr}, v_proj_{nullptr}, o_proj_{nullptr};
  std::shared_ptr<nn::LowRank> w_lora_, a_lora_, g_lora_, v_lora_;
  torch::nn::GroupNorm g_norm_{nullptr};
};

}  // namespace

MixerPointer build_rwkv7(const catalog::MixerContext& context, const Options& options) {
  return std::make_shared<Rwkv7>(context, options);
}

}  // namespace mneme::mixers
