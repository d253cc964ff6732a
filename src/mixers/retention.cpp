#include "mixers/list.h"

#include <cmath>

#include "catalog/retention.h"
#include "core/error.h"
#include "nn/depthwise_conv.h"
#include "nn/rms_norm.h"
#include "ops/gated_scan.h"
#include "ops/linear.h"
#include "ops/tap.h"

namespace mneme::mixers {
namespace {

torch::Tensor activate(const std::string& name, const torch::Tensor& x) {
  if (name == "none") return x;
  if (name == "silu" || name == "swish") return torch::silu(x);
  if (name == "relu") return torch::relu(x);
  if (name == "sigmoid") return torch::sigmoid(x);
  require(name == "gelu", "activation of the schema");
  return torch::gelu(x);
}

// What RetNet and GLA share: streams, scan, norm, gate.
class Retention : public Mixer {
 public:
  Retention(const catalog::MixerContext& context, const Options& options)
      : widths_(catalog::head_widths(context, options)),
        groups_(catalog::retention_groups(options)),
        feature_map_(options.text("feature_map")),
        gate_fn_(options.text("gate_fn")) {
    const std::int64_t D = context.width;
    const std::int64_t out[3] = {widths_.key, widths_.key / groups_, widths_.value / groups_};
    for (int s = 0; s < 3; ++s) {
      const std::string name(1, "qkv"[s]);
      proj_[s] = register_module(name + "_proj", ops::Linear(torch::nn::LinearOptions(D, out[s]).bias(false)));
      if (options.flag("use_short_conv"))
        conv_[s] = register_module(
            name + "_conv1d",
            std::make_shared<nn::DepthwiseConv>(out[s], options.integer("conv_size"), options.flag("conv_bias")));
    }
    const bool gated = options.flag("use_output_gate");
    if (gated) g_proj_ = register_module("g_proj", ops::Linear(torch::nn::LinearOptions(D, widths_.value).bias(false)));
    const bool fused = gated && options.flag("fuse_norm") && gate_fn_ == "swish";
    norm_ = register_module(fused ? "g_norm_swish_gate" : "g_norm",
                            std::make_shared<nn::RmsNorm>(widths_.head_value(), options.real("norm_eps"),
                                                          options.flag("elementwise_affine")));
    o_proj_ = register_module("o_proj", ops::Linear(torch::nn::LinearOptions(widths_.value, D).bias(false)));
  }

  torch::Tensor forward(const torch::Tensor& x, nn::Pass&) override { return mix(x, ops::Positions()); }

  torch::Tensor forward_at(const torch::Tensor& x, const torch::Tensor& positions, nn::Pass&) override {
    return mix(x, ops::Positions(positions));
  }

  bool has_step() const override { return true; }

  // S [B, H, dk, dv], then the window of each convolution.
  MixerState initial_state(std::int64_t batch) const override {
    MixerState state;
    state.tensors.push_back(torch::zeros({batch, widths_.heads, widths_.head_key(), widths_.head_value()},
                                         o_proj_->weight.options().requires_grad(false)));
    for (const auto& conv : conv_)
      if (conv) state.tensors.push_back(conv->initial_window(batch));
    return state;
  }

  Recurrence recurrence() const override { return {.tensors = {0}, .coupled = {2}}; }
  bool is_window(std::size_t tensor) const override { return tensor >= 1; }
  torch::Tensor step(MixerState& state, const torch::Tensor& x) override {
    const auto [q, k, v] = streams(x, [&](const nn::DepthwiseConv& conv, int s, const torch::Tensor& in) {
      return conv.step(state.tensors[static_cast<std::size_t>(s) + 1], in, nn::ConvEnd::silu);
    });
    state.tensors[0] = aged(state.tensors[0]);  // [B, H, dk, dv]
    return output(ops::gated_scan_step(state.tensors[0], q, k, v, log_decay(x)), x);
  }

 protected:
  // [.., C] -> [.., H, C / H], each key and value head repeated for its group of query heads.
  torch::Tensor heads(const torch::Tensor& x, std::int64_t head_width) const {
    // [.., C / head_width, head_width]
    const torch::Tensor y = x.unflatten(-1, {x.size(-1) / head_width, head_width});
    return y.size(-2) == widths_.heads ? y : y.repeat_interleave(groups_, -2);
  }

  const catalog::HeadWidths widths_;
  const std::int64_t groups_;

 private:
  torch::Tensor mix(const torch::Tensor& x, const ops::Positions& positions) {
    const auto [q, k, v] = streams(x, [](const nn::DepthwiseConv& conv, int, const torch::Tensor& in) {
      return conv.forward(in, nn::ConvEnd::silu);
    });
    return output(ops::gated_scan(positioned(q), positioned(k), v, log_decay(x), {}, positions), positions.of(x));
  }

  // As gated_scan takes it; x is [B, L, D] or [B, D].
  virtual torch::Tensor log_decay(const torch::Tensor& x) = 0;
  // Queries or keys [B, L, H, dk] with their positions.
  virtual torch::Tensor positioned(const torch::Tensor& x) { return x; }
  // The state as seen from one position later, before its decay: a step knows no positions.
  virtual torch::Tensor aged(const torch::Tensor& S) { return S; }

  // q, k [.., H, dk] and v [.., H, dv]
  template <class ApplyConv>
  std::array<torch::Tensor, 3> streams(const torch::Tensor& x, ApplyConv apply_conv) {
    std::array<torch::Tensor, 3> result;
    for (int s = 0; s < 3; ++s) {
      torch::Tensor y = proj_[s]->forward(x);  // [.., H dk or H dv, fewer with groups]
      if (conv_[s]) y = apply_conv(*conv_[s], s, s == 2 ? ops::tap(ops::TapPoint::unmixed, y, *this) : y);
      if (s < 2) y = activate(feature_map_, y);
      result[s] = heads(y, s < 2 ? widths_.head_key() : widths_.head_value());
    }
    result[2] = ops::tap(ops::TapPoint::values, result[2], *this);
    result[0] = result[0] / std::sqrt(static_cast<double>(widths_.head_key()));
    return result;
  }

  // read [.., H, dv] and x [.., D] -> [.., D]
  torch::Tensor output(const torch::Tensor& read, const torch::Tensor& x) {
    const torch::Tensor o = ops::tap(ops::TapPoint::mixed, read, *this);  // [.., H, dv]
    if (!g_proj_) return o_proj_->forward(norm_->heads(o));
    const torch::Tensor gate = g_proj_->forward(x);  // [.., H dv]
    if (gate_fn_ == "swish" || gate_fn_ == "silu") return o_proj_->forward(norm_->heads(o, gate));
    return o_proj_->forward(norm_->heads(o) * activate(gate_fn_, gate));
  }

  std::string feature_map_, gate_fn_;
  std::array<ops::Linear, 3> proj_{nullptr, nullptr, nullptr};
  std::array<std::shared_ptr<nn::DepthwiseConv>, 3> conv_;
  ops::Linear g_proj_{nullptr}, o_proj_{nullptr};
  std::shared_ptr<nn::RmsNorm> norm_;
};

class RetNet : public Retention {
 public:
  RetNet(const catalog::MixerContext& context, const Options& options) : Retention(context, options) {}

 private:
  // gamma_h = 1 - 2^(-5-h)
  torch::Tensor log_decay(const torch::Tensor& x) override {
    const torch::Tensor exponent = -5.0 - torch::arange(widths_.heads, torch::kFloat64);  // [H]
    return torch::log1p(-torch::pow(2.0, exponent)).to(x.options().requires_grad(false));
  }

  torch::Tensor positioned(const torch::Tensor& x) override {
    // Angles in double: in float32 their error would grow with the position.
    const torch::Tensor t = torch::arange(x.size(1), torch::kFloat64);  // [L]
    return rotated(x, torch::outer(t, theta()).unsqueeze(1));
  }

  // Scores depend on the distance of query and key alone, so the state may turn back by one position a token.
  torch::Tensor aged(const torch::Tensor& S) override { return rotated(S.transpose(2, 3), -theta()).transpose(2, 3); }

  // [dk / 2]
  torch::Tensor theta() const {
    const double dk = static_cast<double>(widths_.head_key());
    return torch::pow(10000.0, torch::arange(widths_.head_key() / 2, torch::kFloat64) * (-2.0 / dk));
  }

  // Half-split pairs (i, i + dk / 2) of the last dimension, each turned by its angle.
  static torch::Tensor rotated(const torch::Tensor& x, const torch::Tensor& angle) {
    const auto options = x.options().requires_grad(false);
    const torch::Tensor cos = torch::cos(angle).to(options), sin = torch::sin(angle).to(options);  // [.., dk / 2]
    const std::int64_t half = x.size(-1) / 2;
    const torch::Tensor a = x.narrow(-1, 0, half), b = x.narrow(-1, half, half);  // [.., dk / 2]
    return torch::cat({a * cos - b * sin, b * cos + a * sin}, -1);
  }
};

class Gla : public Retention {
 public:
  Gla(const catalog::MixerContext& context, const Options& options)
      : Retention(context, options), normalizer_(options.real("gate_logit_normalizer")) {
    if (!options.is_word("clamp_min")) clamp_min_ = options.real("clamp_min");
    const std::int64_t rank = options.integer("gate_low_rank_dim");
    gk_proj_ = register_module("gk_proj", torch::nn::ModuleList());
    gk_proj_->push_back(ops::Linear(torch::nn::LinearOptions(context.width, rank).bias(false)));
    gk_proj_->push_back(ops::Linear(rank, widths_.key / groups_));
  }

  Recurrence recurrence() const override { return {.tensors = {0}, .coupled = {}}; }

 private:
  torch::Tensor log_decay(const torch::Tensor& x) override {
    const torch::Tensor low = gk_proj_[0]->as<ops::Linear>()->forward(x);                               // [.., rank]
    torch::Tensor gk = torch::log_sigmoid(gk_proj_[1]->as<ops::Linear>()->forward(low)) / normalizer_;  // [.., H dk]
    if (clamp_min_) gk = torch::clamp_min(gk, *clamp_min_);
    return heads(gk, widths_.head_key());
  }

  double normalizer_;
  std::optional<double> clamp_min_;
  torch::nn::ModuleList gk_proj_{nullptr};
};

}  // namespace

MixerPointer build_retnet(const catalog::MixerContext& context, const Options& options) {
  return std::make_shared<RetNet>(context, options);
}

MixerPointer build_gla(const catalog::MixerContext& context, const Options& options) {
  return std::make_shared<Gla>(context, options);
}

}  // namespace mneme::mixers
