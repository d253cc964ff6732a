#include "mixers/list.h"

#include <cmath>
#include <limits>
#include <optional>

#include "core/error.h"
#include "nn/depthwise_conv.h"
#include "nn/rotary.h"
#include "ops/attention.h"
#include "ops/linear.h"
#include "ops/path.h"
#include "ops/tap.h"

namespace mneme::mixers {
namespace {

constexpr char kStreams[] = {'q', 'k', 'v'};

class Attention : public Mixer {
 public:
  Attention(const catalog::MixerContext& context, const Options& options)
      : D_(context.width),
        H_(options.integer("num_heads")),
        dropout_(options.real("dropout")),
        conv_before_(options.text("conv_place") == "pre"),
        causal_conv_(options.text("conv_pad") == "causal") {
    Wqkv_ = register_module("Wqkv", ops::Linear(torch::nn::LinearOptions(D_, 3 * D_).bias(options.flag("bias"))));
    out_proj_ = register_module("out_proj", ops::Linear(D_, D_));
    const std::int64_t taps = options.integer("conv_kernel");
    for (int s = 0; s < 3; ++s)
      if (options.text("conv_on").find(kStreams[s]) != std::string::npos)
        conv_[s] = register_module(std::string("conv_") + kStreams[s],
                                   std::make_shared<nn::DepthwiseConv>(D_, taps, options.flag("conv_bias"),
                                                                       causal_conv_ ? 0 : (taps - 1) / 2));
    if (options.flag("rope")) {
      const auto rotated = static_cast<std::int64_t>(static_cast<double>(D_ / H_) * options.real("rope_pct"));
      rotary_.emplace(rotated, options.real("rope_base"));
    } else if (conv_[1]) {
      conv_[1]->set_shift_invariant();
    }
  }

  torch::Tensor forward(const torch::Tensor& x, nn::Pass& pass) override {
    const bool kernels = ops::use_kernels(x) && !drops(pass);
    if (kernels && is_fused()) return ops::attention_layer(x, c10::nullopt, weights(), H_);
    return out_proj_->forward(kernels ? kernel_context(x) : composed_context(x, pass));
  }

  // Keys and values of all positions, everything else at the labelled ones.
  torch::Tensor forward_at(const torch::Tensor& x, const torch::Tensor& positions, nn::Pass& pass) override {
    if (!ops::use_kernels(x) || drops(pass) || positions.numel() == 0) return Mixer::forward_at(x, positions, pass);
    if (is_fused()) return ops::attention_layer(x, positions, weights(), H_);
    torch::Tensor q, kv;  // [R, D], [B, L, 2D]
    if (has_conv() || rotary_) {
      const auto qkv = turned_streams(x);
      q = ops::select_positions(qkv[0], positions);  // [R, D]
      kv = torch::cat({qkv[1], qkv[2]}, 2);          // [B, L, 2D]
    } else {
      q = Wqkv_->part(ops::select_positions(x, positions), 0, D_);  // [R, D]
      kv = Wqkv_->part(x, D_, 2 * D_);                              // [B, L, 2D]
    }
    return out_proj_->forward(ops::causal_attention_at(q, kv, positions, H_));
  }

  bool has_step() const override { return causal_conv_; }

  // keys and values [B, H, tokens so far, d], then the window of each convolution.
  MixerState initial_state(std::int64_t batch) const override {
    const auto options = Wqkv_->weight.options();
    MixerState state;
    for (int i = 0; i < 2; ++i) state.tensors.push_back(torch::zeros({batch, H_, 0, D_ / H_}, options));
    for (const auto& conv : conv_)
      if (conv) state.tensors.push_back(conv->initial_window(batch));
    return state;
  }

  bool is_window(std::size_t tensor) const override { return tensor >= 2; }
  torch::Tensor step(MixerState& state, const torch::Tensor& x) override {
    const std::int64_t position = state.tensors[0].size(2);
    std::size_t window = 2;
    const auto apply_conv = [&](const nn::DepthwiseConv& conv, const torch::Tensor& in) {
      return conv.step(state.tensors[window++], in.squeeze(1)).unsqueeze(1);
    };
    auto [q, k, v] = heads(streams(x.unsqueeze(1), apply_conv), position);  // [B, H, 1, d]
    state.tensors[0] = torch::cat({state.tensors[0], k}, 2);
    state.tensors[1] = torch::cat({state.tensors[1], v}, 2);
    const double scale = 1.0 / std::sqrt(static_cast<double>(D_ / H_));
    // [B, H, 1, tokens so far]
    const torch::Tensor p = torch::softmax(torch::matmul(q * scale, state.tensors[0].transpose(2, 3)), 3);
    return out_proj_->forward(merge(torch::matmul(p, state.tensors[1]))).squeeze(1);
  }

 private:
  torch::Tensor composed_context(const torch::Tensor& x, nn::Pass& pass) {
    auto qkv = streams(x, whole_sequence);  // [B, L, D] each
    qkv[2] = ops::tap(ops::TapPoint::values, qkv[2].unflatten(2, {H_, D_ / H_}), *this).flatten(2);
    auto [q, k, v] = heads(std::move(qkv), 0);  // [B, H, L, d]
    const double scale = 1.0 / std::sqrt(static_cast<double>(D_ / H_));
    // [B, H, L, L], as p
    const torch::Tensor scores = torch::matmul(q * scale, k.transpose(2, 3)) + causal_mask(x.size(1), x.options());
    const torch::Tensor p = pass.dropout(torch::softmax(scores, 3), dropout_);
    return ops::tap(ops::TapPoint::mixed, torch::matmul(p, v).transpose(1, 2), *this).flatten(2);
  }

  torch::Tensor kernel_context(const torch::Tensor& x) {
    if (!has_conv() && !rotary_) return ops::causal_attention(Wqkv_->forward(x), H_);
    const auto qkv = turned_streams(x);
    return ops::causal_attention(torch::cat({qkv[0], qkv[1], qkv[2]}, 2), H_);
  }

  bool drops(const nn::Pass& pass) const { return pass.is_training() && dropout_ > 0; }
  // Nothing happens between the projections and the attention, and the matrices stay in the cache.
  bool is_fused() const { return !has_conv() && !rotary_ && D_ <= ops::kFusedWidth; }
  ops::AttentionWeights weights() const { return {Wqkv_->weight, Wqkv_->bias, out_proj_->weight, out_proj_->bias}; }
  bool has_conv() const { return conv_[0] || conv_[1] || conv_[2]; }

  // q, k, v as [B, L, D] each, queries and keys turned by their position.
  std::array<torch::Tensor, 3> turned_streams(const torch::Tensor& x) {
    auto qkv = streams(x, whole_sequence);
    if (!rotary_) return qkv;
    auto turned = heads(std::move(qkv), 0);
    for (torch::Tensor& stream : turned) stream = merge(stream);
    return turned;
  }

  static torch::Tensor whole_sequence(const nn::DepthwiseConv& conv, const torch::Tensor& in) {
    return conv.forward(in);
  }

  // q, k, v as [B, L, D] each.
  template <class ApplyConv>
  std::array<torch::Tensor, 3> streams(const torch::Tensor& x, ApplyConv apply_conv) {
    if (!has_conv() || !conv_before_) {
      const torch::Tensor qkv = Wqkv_->forward(x);  // [B, L, 3D]
      std::array<torch::Tensor, 3> result;
      for (int s = 0; s < 3; ++s) {
        result[s] = qkv.narrow(2, s * D_, D_);
        if (conv_[s] && s == 2) result[s] = ops::tap(ops::TapPoint::unmixed, result[s], *this);
        if (conv_[s]) result[s] = apply_conv(*conv_[s], result[s]);
      }
      return result;
    }
    std::array<torch::Tensor, 3> result;
    for (int s = 0; s < 3; ++s) result[s] = Wqkv_->part(conv_[s] ? apply_conv(*conv_[s], x) : x, s * D_, D_);
    return result;
  }

  // [B, L, D] -> [B, H, L, d], queries and keys turned by their position.
  std::array<torch::Tensor, 3> heads(std::array<torch::Tensor, 3> qkv, std::int64_t start) {
    for (torch::Tensor& stream : qkv) stream = stream.unflatten(2, {H_, D_ / H_}).transpose(1, 2);
    if (rotary_)
      for (int s = 0; s < 2; ++s) qkv[s] = rotary_->apply(qkv[s], start);
    return qkv;
  }

  torch::Tensor merge(const torch::Tensor& context) const { return context.transpose(1, 2).flatten(2); }

  torch::Tensor causal_mask(std::int64_t L, const torch::TensorOptions& options) {
    if (!mask_.defined() || mask_.size(0) != L || !mask_.options().type_equal(options))
      mask_ = torch::full({L, L}, -std::numeric_limits<float>::infinity(), options.requires_grad(false)).triu(1);
    return mask_;
  }

  std::int64_t D_, H_;
  double dropout_;
  bool conv_before_, causal_conv_;
  ops::Linear Wqkv_{nullptr}, out_proj_{nullptr};
  std::array<std::shared_ptr<nn::DepthwiseConv>, 3> conv_;
  std::optional<nn::Rotary> rotary_;
  torch::Tensor mask_;  // [L, L]
};

}  // namespace

MixerPointer build_attention(const catalog::MixerContext& context, const Options& options) {
  return std::make_shared<Attention>(context, options);
}

}  // namespace mneme::mixers
