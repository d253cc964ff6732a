#include "mixers/list.h"

#include <cmath>
#include <limits>

#include "ops/attention.h"
#include "ops/linear.h"
#include "ops/path.h"
#include "ops/tap.h"

namespace mneme::mixers {
namespace {

using torch::Tensor;

// The output map of torch's attention: a linear layer whose bias starts at zero.
class OutputMap : public torch::nn::Module, public nn::SelfInitialised {
 public:
  explicit OutputMap(std::int64_t D) {
    weight_ = register_parameter("weight", torch::zeros({D, D}));
    bias_ = register_parameter("bias", torch::zeros({D}));
  }
  Tensor forward(const Tensor& x) const { return ops::linear_map(x, weight_, bias_); }
  void initialise(const nn::Draw& draw, const std::string& prefix) override {
    draw.uniform(weight_, prefix + "weight", 1.0 / std::sqrt(static_cast<double>(weight_.size(1))));
    draw.constant(bias_, 0.0);
  }

 private:
  Tensor weight_, bias_;  // [D, D], [D]
};

class SelfAttention : public torch::nn::Module, public nn::SelfInitialised {
 public:
  SelfAttention(std::int64_t D, std::int64_t heads, bool causal, double dropout)
      : D_(D), H_(heads), causal_(causal), dropout_(dropout) {
    in_proj_weight_ = register_parameter("in_proj_weight", torch::zeros({3 * D, D}));
    in_proj_bias_ = register_parameter("in_proj_bias", torch::zeros({3 * D}));
    out_proj_ = register_module("out_proj", std::make_shared<OutputMap>(D));
  }

  // x [B, T, D]. With `past` (keys and values [B, H, t, d]) x follows it, and past grows by x.
  Tensor forward(const Tensor& x, nn::Pass& pass, Tensor* past = nullptr) const {
    const std::int64_t d = D_ / H_, T = x.size(1);
    const Tensor projected = ops::linear_map(x, in_proj_weight_, in_proj_bias_);  // [B, T, 3D]
    const bool drops = pass.is_training() && dropout_ > 0.0;
    if (causal_ && !past && !drops && ops::use_kernels(x))
      return out_proj_->forward(ops::causal_attention(projected, H_));
    const Tensor qkv = projected.unflatten(2, {3, H_, d}).permute({2, 0, 3, 1, 4});  // [3, B, H, T, d]
    const Tensor q = qkv[0] * (1.0 / std::sqrt(static_cast<double>(d)));             // [B, H, T, d]
    // [B, H, T, d]
    Tensor k = qkv[1], v = ops::tap(ops::TapPoint::values, qkv[2].transpose(1, 2), *this).transpose(1, 2);
    if (past) {
      k = past[0] = torch::cat({past[0], k}, 2);  // [B, H, past, d]
      v = past[1] = torch::cat({past[1], v}, 2);  // [B, H, past, d]
    }
    Tensor scores = torch::matmul(q, k.transpose(2, 3));  // [B, H, T, past]
    if (causal_ && T > 1)
      scores = scores + torch::full({T, T}, -std::numeric_limits<float>::infinity(), x.options()).triu(1);
    const Tensor p = pass.dropout(torch::softmax(scores, 3), dropout_);  // [B, H, T, past]
    // [B, T, H, d]
    const Tensor mixed = ops::tap(ops::TapPoint::mixed, torch::matmul(p, v).transpose(1, 2), *this);
    return out_proj_->forward(mixed.flatten(2));
  }

  // Xavier's bound for the whole [3D, D] matrix.
  void initialise(const nn::Draw& draw, const std::string& prefix) override {
    draw.uniform(in_proj_weight_, prefix + "in_proj_weight", std::sqrt(6.0 / static_cast<double>(4 * D_)));
    draw.constant(in_proj_bias_, 0.0);
  }

 private:
  std::int64_t D_, H_;
  bool causal_;
  double dropout_;
  Tensor in_proj_weight_, in_proj_bias_;  // [3D, D], [3D]
  std::shared_ptr<OutputMap> out_proj_;
};

struct LayerModules {
  std::shared_ptr<SelfAttention> self_attn;
  ops::Linear linear1{nullptr}, linear2{nullptr};
  torch::nn::LayerNorm norm1{nullptr}, norm2{nullptr};
};

class Transformer : public Mixer {
 public:
  Transformer(const catalog::MixerContext& context, const Options& options)
      : D_(context.width),
        H_(options.integer("nhead")),
        sincos_(options.text("pos") == "sincos"),
        norm_first_(options.flag("norm_first")),
        gelu_(options.text("activation") == "gelu"),
        causal_(options.flag("causal")),
        dropout_(options.real("dropout")) {
    const std::int64_t count = options.integer("num_layers");
    // A single layer has no prefix; several are named as in torch's TransformerEncoder.
    std::shared_ptr<torch::nn::Module> list;
    if (count > 1) list = register_module("layers", std::make_shared<torch::nn::Module>());
    for (std::int64_t i = 0; i < count; ++i) {
      if (!list)
        layers_.push_back(make_layer(*this, options));
      else
        layers_.push_back(
            make_layer(*list->register_module(std::to_string(i), std::make_shared<torch::nn::Module>()), options));
    }
  }

  Tensor forward(const Tensor& x, nn::Pass& pass) override {
    Tensor y = with_positions(x, 0);  // [B, L, D]
    for (const LayerModules& layer : layers_) y = apply(layer, y, pass, nullptr);
    return y;
  }

  bool has_step() const override { return causal_; }

  // Keys and values [B, H, tokens so far, d] of each layer.
  MixerState initial_state(std::int64_t batch) const override {
    MixerState state;
    for (std::size_t i = 0; i < 2 * layers_.size(); ++i)
      state.tensors.push_back(torch::zeros({batch, H_, 0, D_ / H_}, parameters().front().options()));
    return state;
  }

  Tensor step(MixerState& state, const Tensor& x) override {
    nn::Pass pass = nn::Pass::evaluation();
    Tensor y = with_positions(x.unsqueeze(1), state.tensors[0].size(2));  // [B, 1, D]
    for (std::size_t i = 0; i < layers_.size(); ++i) y = apply(layers_[i], y, pass, state.tensors.data() + 2 * i);
    return y.squeeze(1);
  }

 private:
  LayerModules make_layer(torch::nn::Module& owner, const Options& options) const {
    const std::int64_t F = options.integer("dim_feedforward");
    const auto norm = torch::nn::LayerNormOptions({D_}).eps(options.real("layer_norm_eps"));
    LayerModules layer;
    layer.self_attn = owner.register_module("self_attn", std::make_shared<SelfAttention>(D_, H_, causal_, dropout_));
    layer.linear1 = owner.register_module("linear1", ops::Linear(D_, F));
    layer.linear2 = owner.register_module("linear2", ops::Linear(F, D_));
    layer.norm1 = owner.register_module("norm1", torch::nn::LayerNorm(norm));
    layer.norm2 = owner.register_module("norm2", torch::nn::LayerNorm(norm));
    return layer;
  }

  Tensor apply(const LayerModules& layer, const Tensor& x, nn::Pass& pass, Tensor* past) const {
    torch::nn::LayerNorm norm1 = layer.norm1, norm2 = layer.norm2;
    const auto attend = [&](const Tensor& z) {
      return pass.dropout(layer.self_attn->forward(z, pass, past), dropout_);
    };
    const auto feed = [&](const Tensor& z) {
      ops::Linear linear1 = layer.linear1, linear2 = layer.linear2;
      const Tensor hidden = linear1->forward(z);  // [B, T, F]
      return pass.dropout(linear2->forward(pass.dropout(gelu_ ? torch::gelu(hidden) : torch::relu(hidden), dropout_)),
                          dropout_);
    };
    if (norm_first_) {
      const Tensor y = x + attend(norm1->forward(x));  // [B, T, D]
      return y + feed(norm2->forward(y));
    }
    const Tensor y = norm1->forward(x + attend(x));  // [B, T, D]
    return norm2->forward(y + feed(y));
  }

  // Even channels sin, odd channels cos of t / 10000^(2i / D), computed in double.
  Tensor with_positions(const Tensor& x, std::int64_t start) const {
    if (!sincos_) return x;
    // On the host: some devices have no doubles.
    const auto real = torch::TensorOptions(torch::kFloat64);
    const Tensor time = torch::arange(start, start + x.size(1), real).unsqueeze(1);  // [T, 1]
    // [ceil(D / 2)]
    const Tensor rate = torch::pow(10000.0, torch::arange(0, D_, 2, real) * (-1.0 / static_cast<double>(D_)));
    const Tensor angle = time * rate;  // [T, ceil(D / 2)]
    // [T, D]
    const Tensor table = torch::stack({torch::sin(angle), torch::cos(angle)}, 2).flatten(1).narrow(1, 0, D_);
    return x + table.to(x.options());
  }

  std::int64_t D_, H_;
  bool sincos_, norm_first_, gelu_, causal_;
  double dropout_;
  std::vector<LayerModules> layers_;
};

}  // namespace

MixerPointer build_transformer(const catalog::MixerContext& context, const Options& options) {
  return std::make_shared<Transformer>(context, options);
}

}  // namespace mneme::mixers
