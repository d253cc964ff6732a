#include "mixers/list.h"

#include <cmath>

#include "catalog/delta_rule.h"
#include "core/error.h"
#include "nn/depthwise_conv.h"
#include "nn/rms_norm.h"
#include "ops/delta_rule.h"
#include "ops/linear.h"
#include "ops/tap.h"

namespace mneme::mixers {
namespace {

constexpr const char* kDeltaStreams[] = {"q", "k", "v"};

struct QueryKeyRule {
  std::string activation = "silu", norm = "l2";
};

// All three mixers of the family: they differ in what they switch on.
class DeltaRuleMixer : public Mixer, public nn::SelfInitialised {
 public:
  DeltaRuleMixer(const catalog::MixerContext& context, const catalog::DeltaRuleSizes& sizes, QueryKeyRule rule)
      : s_(sizes), rule_(std::move(rule)) {
    const std::int64_t D = context.width, widths[] = {s_.q_width(), s_.k_width(), s_.v_width()};
    for (int i = 0; i < 3; ++i) {
      proj_[i] = add_projection(std::string(kDeltaStreams[i]) + "_proj", D, widths[i]);
      if (s_.conv)
        conv_[i] = register_module(std::string(kDeltaStreams[i]) + "_conv1d",
                                   std::make_shared<nn::DepthwiseConv>(widths[i], s_.taps, s_.conv_bias));
    }
    if (s_.beta) b_proj_ = add_projection("b_proj", D, s_.householders * s_.value_heads);
    if (s_.decay) {
      a_proj_ = add_projection("a_proj", D, s_.value_heads);
      A_log_ = register_parameter("A_log", torch::zeros({s_.value_heads}));
      dt_bias_ = register_parameter("dt_bias", torch::zeros({s_.value_heads}));
    }
    if (s_.gate) g_proj_ = add_projection("g_proj", D, s_.out_width());
    o_norm_ = register_module("o_norm", std::make_shared<nn::RmsNorm>(s_.value_size, s_.eps));
    o_proj_ = add_projection("o_proj", s_.out_width(), D);
  }

  torch::Tensor forward(const torch::Tensor& x, nn::Pass&) override { return mix(x, ops::Positions()); }

  torch::Tensor forward_at(const torch::Tensor& x, const torch::Tensor& positions, nn::Pass&) override {
    return mix(x, ops::Positions(positions));
  }

  bool has_step() const override { return true; }

  // S [B, H, dk, dv], then the windows of the convolutions.
  MixerState initial_state(std::int64_t batch) const override {
    const auto options = proj_[0]->weight.options().requires_grad(false);
    MixerState state{{torch::zeros({batch, s_.value_heads, s_.key_size, s_.value_size}, options)}};
    for (const auto& conv : conv_)
      if (conv) state.tensors.push_back(conv->initial_window(batch));
    return state;
  }

  Recurrence recurrence() const override { return {.tensors = {0}, .coupled = {2}}; }
  bool is_window(std::size_t tensor) const override { return tensor >= 1; }
  torch::Tensor step(MixerState& state, const torch::Tensor& x) override {
    const torch::Tensor token = x.unsqueeze(1);  // [B, 1, D]
    const Inputs in = inputs(token, [&](const nn::DepthwiseConv& conv, int i, const torch::Tensor& y, nn::ConvEnd end) {
      return conv.step(state.tensors[static_cast<std::size_t>(1 + i)], y.squeeze(1), end).unsqueeze(1);
    });
    const auto first = [](const torch::Tensor& y) { return y.defined() ? y.select(1, 0) : y; };
    const torch::Tensor o = ops::delta_rule_step(state.tensors[0], first(in.q), first(in.k), first(in.v),
                                                 first(in.beta), first(in.g), rule_.norm == "l2");
    return output(token, o.unsqueeze(1)).squeeze(1);
  }

  void initialise(const nn::Draw& draw, const std::string& prefix) override {
    if (!s_.decay) return;
    // A uniform in (0, 16]; dt log-uniform in [0.001, 0.1], kept as the inverse of its softplus.
    draw.values(A_log_, prefix + "A_log",
                [](Random& random, std::int64_t) { return std::log(16.0 * (1.0 - random.uniform())); });
    draw.values(dt_bias_, prefix + "dt_bias", [](Random& random, std::int64_t) {
      const double dt = std::max(std::exp(random.uniform() * std::log(100.0) + std::log(0.001)), 1e-4);
      return dt + std::log(-std::expm1(-dt));
    });
  }

 private:
  struct Inputs {
    // As delta_rule takes them: [B, L, H, dk], [B, L, n, H, dk], [B, L, n, H, dv], [B, L, n, H], [B, L, H] or none.
    torch::Tensor q, k, v, beta, g;
  };

  torch::Tensor mix(const torch::Tensor& x, const ops::Positions& positions) {
    const Inputs in = inputs(x, [](const nn::DepthwiseConv& conv, int, const torch::Tensor& y, nn::ConvEnd end) {
      return conv.forward(y, end);
    });
    const torch::Tensor o = ops::delta_rule(in.q, in.k, in.v, in.beta, in.g, rule_.norm == "l2");  // [B, L, H, dv]
    return output(positions.of(x), positions.of(ops::tap(ops::TapPoint::mixed, o, *this)));
  }

  ops::Linear add_projection(const std::string& name, std::int64_t in, std::int64_t out) {
    return register_module(name, ops::Linear(torch::nn::LinearOptions(in, out).bias(false)));
  }

  template <class ApplyConv>
  Inputs inputs(const torch::Tensor& x, ApplyConv apply_conv) {
    std::array<torch::Tensor, 3> streams;  // [B, L, n H dk] twice, of q with n = 1, and [B, L, n H dv]
    for (int i = 0; i < 3; ++i) {
      const torch::Tensor y = proj_[i]->forward(x);  // [B, L, n H dk or n H dv]
      const bool silu = i == 2 || rule_.activation == "silu";
      if (conv_[i])
        streams[i] = apply_conv(*conv_[i], i, i == 2 ? ops::tap(ops::TapPoint::unmixed, y, *this) : y,
                                silu ? nn::ConvEnd::silu : nn::ConvEnd::plain);
      else
        streams[i] = silu ? torch::silu(y) : y;
    }
    Inputs in;
    in.q = repeat_heads(query_key(streams[0].unflatten(2, {s_.heads, s_.key_size})));
    in.k = repeat_heads(query_key(streams[1].unflatten(2, {s_.householders, s_.heads, s_.key_size})));
    in.v = streams[2].unflatten(2, {s_.householders, s_.value_heads, s_.value_size});
    in.v = ops::tap(ops::TapPoint::values, in.v, *this);
    if (s_.beta) {
      in.beta = torch::sigmoid(b_proj_->forward(x));  // [B, L, n H]
      if (s_.double_beta) in.beta = 2.0 * in.beta;
    } else {
      in.beta = torch::full({x.size(0), x.size(1), s_.householders * s_.value_heads}, s_.double_beta ? 2.0 : 1.0,
                            x.options().requires_grad(false));
    }
    in.beta = in.beta.unflatten(2, {s_.householders, s_.value_heads});                           // [B, L, n, H]
    if (s_.decay) in.g = -torch::exp(A_log_) * torch::softplus(a_proj_->forward(x) + dt_bias_);  // [B, L, H]
    return in;
  }

  // The activation unless it is SiLU, which follows the convolution, and the normalisation that the recurrence does not
  // do itself.
  torch::Tensor query_key(torch::Tensor x) const {
    if (rule_.activation == "relu")
      x = torch::relu(x);
    else if (rule_.activation == "elu")
      x = torch::elu(x) + 1.0;
    else
      require(rule_.activation == "silu" || rule_.activation == "identity", "activation of the schema");
    return rule_.norm == "sum" ? x / x.sum(-1, true) : x;
  }

  torch::Tensor repeat_heads(const torch::Tensor& x) const {
    return s_.value_heads == s_.heads ? x : x.repeat_interleave(s_.value_heads / s_.heads, -2);
  }

  // x [.., D] and o [.., H, dv] -> [.., D]
  torch::Tensor output(const torch::Tensor& x, const torch::Tensor& o) {
    return o_proj_->forward(o_norm_->heads(o, s_.gate ? g_proj_->forward(x) : torch::Tensor()));
  }

  catalog::DeltaRuleSizes s_;
  QueryKeyRule rule_;
  std::array<ops::Linear, 3> proj_{nullptr, nullptr, nullptr};
  std::array<std::shared_ptr<nn::DepthwiseConv>, 3> conv_;
  ops::Linear b_proj_{nullptr}, a_proj_{nullptr}, g_proj_{nullptr}, o_proj_{nullptr};
  torch::Tensor A_log_, dt_bias_;  // [H]
  std::shared_ptr<nn::RmsNorm> o_norm_;
};

}  // namespace

MixerPointer build_deltanet(const catalog::MixerContext& context, const Options& options) {
  return std::make_shared<DeltaRuleMixer>(context, catalog::deltanet_sizes(context, options),
                                          QueryKeyRule{options.text("qk_activation"), options.text("qk_norm")});
}

MixerPointer build_gated_deltanet(const catalog::MixerContext& context, const Options& options) {
  return std::make_shared<DeltaRuleMixer>(context, catalog::gated_deltanet_sizes(context, options), QueryKeyRule{});
}

MixerPointer build_deltaproduct(const catalog::MixerContext& context, const Options& options) {
  return std::make_shared<DeltaRuleMixer>(context, catalog::deltaproduct_sizes(context, options), QueryKeyRule{});
}

}  // namespace mneme::mixers
