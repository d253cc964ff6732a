#include "mixers/list.h"

#include <cmath>

#include "catalog/head_widths.h"
#include "nn/rms_norm.h"
#include "ops/gated_scan.h"
#include "ops/linear.h"
#include "ops/tap.h"

namespace mneme::mixers {
namespace {

// The learned map: (W1 x + b1) * (W2 x + b2) on each head.
class ElementwiseProduct : public torch::nn::Module {
 public:
  explicit ElementwiseProduct(std::int64_t width) {
    layer1_ = register_module("layer1", ops::Linear(width, width));
    layer2_ = register_module("layer2", ops::Linear(width, width));
  }
  torch::Tensor forward(const torch::Tensor& x) { return layer1_->forward(x) * layer2_->forward(x); }

 private:
  ops::Linear layer1_{nullptr}, layer2_{nullptr};
};

class LinearAttention : public Mixer {
 public:
  LinearAttention(const catalog::MixerContext& context, const Options& options)
      : widths_(catalog::head_widths(context, options)),
        feature_map_(options.text("feature_map")),
        norm_q_(options.flag("norm_q")),
        norm_k_(options.flag("norm_k")),
        normalised_(options.flag("do_feature_map_norm")) {
    const auto linear = [&](const char* name, std::int64_t in, std::int64_t out) {
      return register_module(name, ops::Linear(torch::nn::LinearOptions(in, out).bias(false)));
    };
    q_proj_ = linear("q_proj", context.width, widths_.key);
    k_proj_ = linear("k_proj", context.width, widths_.key);
    v_proj_ = linear("v_proj", context.width, widths_.value);
    o_proj_ = linear("o_proj", widths_.value, context.width);
    if (feature_map_ == "elementwise_product") {
      map_q_ = register_module("feature_map_q", std::make_shared<ElementwiseProduct>(widths_.head_key()));
      map_k_ = register_module("feature_map_k", std::make_shared<ElementwiseProduct>(widths_.head_key()));
    }
    if (options.text("output_norm") == "rmsnorm")
      norm_ = register_module("norm", std::make_shared<nn::RmsNorm>(widths_.head_value(), options.real("norm_eps"),
                                                                    options.flag("elementwise_affine")));
  }

  torch::Tensor forward(const torch::Tensor& x, nn::Pass&) override { return mix(x, ops::Positions()); }

  torch::Tensor forward_at(const torch::Tensor& x, const torch::Tensor& positions, nn::Pass&) override {
    return mix(x, ops::Positions(positions));
  }

  bool has_step() const override { return true; }

  // S [B, H, dk, dv]; with the normaliser one column more, the sum of the keys.
  MixerState initial_state(std::int64_t batch) const override {
    const std::int64_t columns = widths_.head_value() + (normalised_ ? 1 : 0);
    return {{torch::zeros({batch, widths_.heads, widths_.head_key(), columns},
                          q_proj_->weight.options().requires_grad(false))}};
  }

  Recurrence recurrence() const override { return {.tensors = {0}, .coupled = {}}; }
  torch::Tensor step(MixerState& state, const torch::Tensor& x) override {
    const auto [q, k, v] = streams(x);  // [.., H, dk] twice, [.., H, dv]
    return output(ops::gated_scan_step(state.tensors[0], q, k, v, {}));
  }

 private:
  torch::Tensor mix(const torch::Tensor& x, const ops::Positions& positions) {
    const auto [q, k, v] = streams(x);  // [.., H, dk] twice, [.., H, dv]
    return output(ops::gated_scan(q, k, v, {}, {}, positions));
  }

  // [.., H, dk] twice and [.., H, dv], with a value of 1 after each if the weights are to be summed.
  std::array<torch::Tensor, 3> streams(const torch::Tensor& x) {
    const auto heads = [&](const torch::Tensor& y) {
      return y.unflatten(-1, {widths_.heads, y.size(-1) / widths_.heads});
    };
    torch::Tensor q = mapped(heads(q_proj_->forward(x)), map_q_.get(), norm_q_);           // [.., H, dk]
    torch::Tensor k = mapped(heads(k_proj_->forward(x)), map_k_.get(), norm_k_);           // [.., H, dk]
    torch::Tensor v = ops::tap(ops::TapPoint::values, heads(v_proj_->forward(x)), *this);  // [.., H, dv]
    if (normalised_) v = torch::cat({v, torch::ones_like(v.narrow(-1, 0, 1))}, -1);
    return {q / std::sqrt(static_cast<double>(widths_.head_key())), k, v};
  }

  // [.., H, dk], as x
  torch::Tensor mapped(torch::Tensor x, ElementwiseProduct* product, bool norm) const {
    if (product)
      x = product->forward(x);
    else if (feature_map_ == "elu")
      x = torch::elu(x) + 1.0;
    else if (feature_map_ == "relu")
      x = torch::relu(x);
    return norm ? x / (x.sum(-1, true) + 1e-4) : x;
  }

  // o [.., H, dv], or with the sum of the weights [.., H, dv + 1] -> [.., D]
  torch::Tensor output(torch::Tensor o) {
    if (normalised_) {
      const std::int64_t dv = widths_.head_value();
      o = o.narrow(-1, 0, dv) / (o.narrow(-1, dv, 1) + 1e-10);  // [.., H, dv]
    }
    o = ops::tap(ops::TapPoint::mixed, o, *this);  // [.., H, dv]
    return o_proj_->forward(norm_ ? norm_->heads(o) : o.flatten(-2));
  }

  catalog::HeadWidths widths_;
  std::string feature_map_;
  bool norm_q_, norm_k_, normalised_;
  ops::Linear q_proj_{nullptr}, k_proj_{nullptr}, v_proj_{nullptr}, o_proj_{nullptr};
  std::shared_ptr<ElementwiseProduct> map_q_, map_k_;
  std::shared_ptr<nn::RmsNorm> norm_;
};

}  // namespace

MixerPointer build_linear_attention(const catalog::MixerContext& context, const Options& options) {
  return std::make_shared<LinearAttention>(context, options);
}

}  // namespace mneme::mixers
