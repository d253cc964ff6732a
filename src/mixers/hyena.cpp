#include "mixers/list.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "nn/depthwise_conv.h"
#include "nn/nested.h"
#include "ops/gated_conv.h"
#include "ops/linear.h"
#include "ops/long_conv.h"
#include "ops/tap.h"

namespace mneme::mixers {
namespace {

double linspace(double first, double last, std::int64_t count, std::int64_t i) {
  return count > 1 ? first + (last - first) * static_cast<double>(i) / static_cast<double>(count - 1) : first;
}

// The filter: a network with sine activations on features of the position, under a decaying window per channel.
class HyenaFilter : public torch::nn::Module, public nn::SelfInitialised {
 public:
  HyenaFilter(const catalog::MixerContext& context, const Options& options)
      : longest_(context.length),
        features_(options.integer("emb_dim")),
        frequency_(options.real("w")),
        normalized_(options.flag("normalized")),
        skip_(options.flag("bias") ? 1.0 : 0.0) {
    const std::int64_t D = context.width, F = options.integer("filter_order"),
                       layers = options.integer("num_inner_mlps") + 1;
    bias_ = register_parameter("bias", torch::zeros({D}));
    z_ = register_module("pos_emb", std::make_shared<nn::NameLevel>())
             ->register_parameter("z", torch::zeros({1, longest_, features_}));
    const auto network = register_module("implicit_filter", std::make_shared<nn::NameLevel>());
    for (std::int64_t i = 0; i <= layers; ++i) {
      const auto linear_options =
          torch::nn::LinearOptions(i == 0 ? features_ : F, i == layers ? D : F).bias(i < layers);
      network_.push_back(network->register_module(std::to_string(2 * i), ops::Linear(linear_options)));
    }
    // One tensor of frequencies for all activations; the first of them holds it.
    freq_ = network->register_module("1", std::make_shared<nn::NameLevel>())
                ->register_parameter("freq", torch::zeros({1, F}));
    if (options.flag("modulate")) window_ = window(D, options);
  }

  // [L, D]
  torch::Tensor filter(std::int64_t L) {
    if (L > longest_)
      throw Error(ErrorKind::usage, "hyena",
                  fmt::format("a sequence longer than the filter, got {} tokens, expected at most {}", L, longest_));
    torch::Tensor h = z_.select(0, 0).narrow(0, 0, L);  // [L, features]
    for (std::size_t i = 0; i + 1 < network_.size(); ++i) h = torch::sin(freq_ * network_[i]->forward(h));
    h = network_.back()->forward(h);  // [L, D]
    if (window_.defined()) h = h * window_.narrow(0, 0, L).to(h.options());
    return normalized_ ? h / h.abs().sum(1, true) : h;
  }

  std::int64_t longest() const { return longest_; }

  // What each channel's own input counts, 0 if it is switched off.
  torch::Tensor skip() const { return skip_ * bias_; }

  void initialise(const nn::Draw& draw, const std::string& prefix) override {
    draw.normal(bias_, prefix + "bias", 1.0);
    draw.constant(freq_, frequency_);
    // Time in [0, 1], then cosines and negative sines of frequencies from 1e-4 up to one less than there are bands.
    const std::int64_t bands = (features_ - 1) / 2;
    draw.values(z_, prefix + "pos_emb.z", [&](Random&, std::int64_t i) {
      const std::int64_t t = i / features_, column = i % features_;
      if (column == 0) return linspace(0.0, 1.0, longest_, t);
      const double wave = linspace(1e-4, static_cast<double>(bands - 1), bands, (column - 1) % bands);
      const double angle = wave * 2.0 * M_PI * static_cast<double>(t) / static_cast<double>(longest_);
      return column <= bands ? std::cos(angle) : -std::sin(angle);
    });
  }

 private:
  // exp(-|delta_c| t) + shift, t in [0, 1] over the longest sequence: [l_max, D]
  torch::Tensor window(std::int64_t D, const Options& options) const {
    torch::Tensor table = torch::empty({longest_, D}, torch::kFloat64);
    const double target = std::log(options.real("target"));
    for (std::int64_t t = 0; t < longest_; ++t)
      for (std::int64_t c = 0; c < D; ++c) {
        const double rate =
            linspace(target / options.real("slow_decay_pct"), target / options.real("fast_decay_pct"), D, c);
        table.data_ptr<double>()[t * D + c] =
            std::exp(-std::abs(rate) * linspace(0.0, 1.0, longest_, t)) + options.real("shift");
      }
    return table;
  }

  std::int64_t longest_, features_;
  double frequency_;
  bool normalized_;
  double skip_;
  torch::Tensor bias_, z_, freq_, window_;  // [D], [1, l_max, features], [1, F], [l_max, D]
  std::vector<ops::Linear> network_;
};

class Hyena : public Mixer {
 public:
  Hyena(const catalog::MixerContext& context, const Options& options)
      : D_(context.width), dropout_(options.real("dropout")) {
    in_proj_ = register_module("in_proj", ops::Linear(D_, 3 * D_));
    out_proj_ = register_module("out_proj", ops::Linear(D_, D_));
    short_filter_ = register_module(
        "short_filter", std::make_shared<nn::DepthwiseConv>(3 * D_, options.integer("short_filter_order"), true));
    filter_fn_ = register_module("filter_fn", std::make_shared<HyenaFilter>(context, options));
  }

  torch::Tensor forward(const torch::Tensor& x, nn::Pass& pass) override {
    return out_proj_->forward(convolved(x, pass));
  }

  torch::Tensor forward_at(const torch::Tensor& x, const torch::Tensor& positions, nn::Pass& pass) override {
    return out_proj_->forward(ops::select_positions(convolved(x, pass), positions));
  }

  bool has_step() const override { return true; }

  // All gated inputs so far [B, tokens, D], and the window of the short convolution. There is no finite recurrence:
  // a step costs as much as there were tokens. The filter is computed once, by the first step after this.
  MixerState initial_state(std::int64_t batch) const override {
    filter_ = torch::Tensor();
    return {{torch::zeros({batch, 0, D_}, in_proj_->weight.options().requires_grad(false)),
             short_filter_->initial_window(batch)}};
  }

  bool is_window(std::size_t tensor) const override { return tensor == 1; }
  torch::Tensor step(MixerState& state, const torch::Tensor& x) override {
    const torch::Tensor u = short_filter_->step(state.tensors[1], in_proj_->forward(x));  // [B, 3D]
    const torch::Tensor v = u.narrow(1, 2 * D_, D_) * u.narrow(1, 0, D_);                 // [B, D]
    state.tensors[0] = torch::cat({state.tensors[0], v.unsqueeze(1)}, 1);                 // [B, tokens so far, D]
    const std::int64_t tokens = state.tensors[0].size(1);
    if (!filter_.defined() || filter_.size(0) < tokens)
      filter_ = filter_fn_->filter(std::max(tokens, filter_fn_->longest()));
    const torch::Tensor past = state.tensors[0].flip({1});  // [B, tokens, D], newest first
    const torch::Tensor y = (past * filter_.narrow(0, 0, tokens)).sum(1) + filter_fn_->skip() * v;  // [B, D]
    return out_proj_->forward(y * u.narrow(1, D_, D_));
  }

 private:
  // All but the output projection.
  torch::Tensor convolved(const torch::Tensor& x, nn::Pass& pass) {
    const torch::Tensor u = short_filter_->forward(with_tap(in_proj_->forward(x))),
                        filter = filter_fn_->filter(x.size(1));
    if (dropout_ == 0.0 && !ops::is_tapped()) return ops::gated_long_conv(u, filter, filter_fn_->skip());
    // One chunk(): its backward pass joins its parts, that of a narrow() each would fill [B, L, 3D] with zeros.
    const auto parts = u.chunk(3, 2);                                         // [B, L, D] each
    const torch::Tensor gated = pass.dropout(parts[2] * parts[0], dropout_);  // [B, L, D]
    const torch::Tensor v = ops::tap(ops::TapPoint::values, gated, *this);    // [B, L, D]
    const torch::Tensor y = torch::addcmul(ops::long_conv(v, filter), v, filter_fn_->skip()) * parts[1];  // [B, L, D]
    return ops::tap(ops::TapPoint::mixed, y, *this);
  }

  // Of what is projected, the values are tapped.
  torch::Tensor with_tap(const torch::Tensor& projected) const {
    if (!ops::is_tapped()) return projected;
    const auto parts = projected.split_with_sizes({2 * D_, D_}, 2);
    return torch::cat({parts[0], ops::tap(ops::TapPoint::unmixed, parts[1], *this)}, 2);
  }

  std::int64_t D_;
  double dropout_;
  ops::Linear in_proj_{nullptr}, out_proj_{nullptr};
  std::shared_ptr<nn::DepthwiseConv> short_filter_;
  std::shared_ptr<HyenaFilter> filter_fn_;
  mutable torch::Tensor filter_;  // [taps, D]
};

}  // namespace

MixerPointer build_hyena(const catalog::MixerContext& context, const Options& options) {
  return std::make_shared<Hyena>(context, options);
}

}  // namespace mneme::mixers
