#include "mixers/list.h"

#include <cmath>

#include "catalog/recurrent.h"
#include "ops/linear.h"
#include "ops/nru.h"
#include "ops/path.h"

namespace mneme::mixers {
namespace {

using torch::Tensor;

// Common to all variants: a state [h | m] that starts at zero, moved by step_state.
class Nru : public Mixer {
 public:
  Nru(const catalog::MixerContext& context, const Options& options)
      : D_(context.width), H_(catalog::hidden_size(context, options)), M_(options.integer("memory_size")) {}

  Tensor forward(const Tensor& x, nn::Pass&) override {
    if (ops::use_kernels(x)) return output(fused(x.transpose(0, 1)).transpose(0, 1));
    // [B, H], [B, M]
    Tensor h = torch::zeros({x.size(0), H_}, x.options()), m = torch::zeros({x.size(0), M_}, x.options());
    std::vector<Tensor> outputs;  // [B, H] each
    for (const Tensor& token : x.unbind(1)) {
      move(h, m, token);
      outputs.push_back(h);
    }
    return output(torch::stack(outputs, 1));
  }

  bool has_step() const override { return true; }

  MixerState initial_state(std::int64_t batch) const override {
    const auto options = parameters().front().options();
    return {{torch::zeros({batch, H_}, options), torch::zeros({batch, M_}, options)}};
  }

  Tensor step(MixerState& state, const Tensor& x) override {
    move(state.tensors[0], state.tensors[1], x);
    return output(state.tensors[0]);
  }

 protected:
  // One token, in tensor operations.
  virtual void move(Tensor& h, Tensor& m, const Tensor& x) = 0;
  // All tokens [L, B, D] -> h [L, B, H], by kernels.
  virtual Tensor fused(const Tensor& x) = 0;
  virtual Tensor output(const Tensor& h) { return h; }

  std::int64_t D_, H_, M_;
};

// Variants `original` and `table8`: the latter's head maps read the input too, and it has an output map.
class OuterProductNru : public Nru, public nn::SelfInitialised {
 public:
  OuterProductNru(const catalog::MixerContext& context, const Options& options)
      : Nru(context, options),
        k_(options.integer("k")),
        s_(std::llround(std::sqrt(static_cast<double>(M_ * k_)))),
        relu_(options.flag("use_relu")),
        table8_(options.text("variant") == "table8") {
    const std::int64_t reads = H_ + M_ + (table8_ ? D_ : 0);
    hmi2h_ = register_module("hmi2h", ops::Linear(D_ + H_ + M_, H_));
    hm2alpha_ = register_module("hm2alpha", ops::Linear(reads, k_));
    hm2beta_ = register_module("hm2beta", ops::Linear(reads, k_));
    hm2v_alpha_ = register_module("hm2v_alpha", ops::Linear(reads, 2 * s_));
    hm2v_beta_ = register_module("hm2v_beta", ops::Linear(reads, 2 * s_));
    if (options.flag("layer_norm") || table8_)
      ln_h_ = register_module("_ln_h", torch::nn::LayerNorm(torch::nn::LayerNormOptions({H_})));
    if (table8_) {
      W_h2o_ = register_parameter("_W_h2o", torch::zeros({H_, H_}));
      b_o_ = register_parameter("_b_o", torch::zeros({H_}));
    }
  }

  void initialise(const nn::Draw& draw, const std::string& prefix) override {
    if (!table8_) return;
    draw.normal(W_h2o_, prefix + "_W_h2o", std::sqrt(1.0 / static_cast<double>(H_)));
    draw.constant(b_o_, 0.0);
  }

 protected:
  void move(Tensor& h, Tensor& m, const Tensor& x) override {
    Tensor p = hmi2h_->forward(torch::cat({x, h, m}, 1));  // [B, H]
    if (ln_h_) p = ln_h_->forward(p);
    h = torch::relu(p);                                                           // [B, H]
    const Tensor q = table8_ ? torch::cat({x, h, m}, 1) : torch::cat({h, m}, 1);  // [B, H + M], or [B, D + H + M]
    const Tensor alpha = bent(hm2alpha_->forward(q)), beta = bent(hm2beta_->forward(q));  // [B, k]
    const Tensor write = alpha.unsqueeze(2) * vectors(hm2v_alpha_->forward(q));           // [B, k, M]
    const Tensor erase = beta.unsqueeze(2) * vectors(hm2v_beta_->forward(q));             // [B, k, M]
    m = m + (write - erase).mean(1);                                                      // [B, M]
  }

  Tensor fused(const Tensor& x) override {
    const ops::NruShape shape{H_, M_, k_, s_, relu_};
    const Tensor W = hmi2h_->weight;                                        // [H, D + H + M]
    const Tensor a = ops::linear_map(x, W.narrow(1, 0, D_), hmi2h_->bias);  // [L, B, H]
    const auto maps = {hm2alpha_, hm2beta_, hm2v_alpha_, hm2v_beta_};
    std::vector<Tensor> weights, biases;
    for (const ops::Linear& map : maps) {
      weights.push_back(map->weight);
      biases.push_back(map->bias);
    }
    const Tensor U = torch::cat(weights), bias = torch::cat(biases);  // [2k + 4s, reads], [2k + 4s]
    const std::int64_t first = table8_ ? D_ : 0;
    // [L, B, 2k + 4s]
    const Tensor o = table8_ ? ops::linear_map(x, U.narrow(1, 0, D_), bias) : bias.expand({x.size(0), x.size(1), -1});
    return ops::nru_layer(shape, a, o, W.narrow(1, D_, H_ + M_), U.narrow(1, first, H_ + M_),
                          ln_h_ ? ln_h_->weight : Tensor(), ln_h_ ? ln_h_->bias : Tensor());
  }

  Tensor output(const Tensor& h) override { return table8_ ? torch::matmul(h, W_h2o_) + b_o_ : h; }

 private:
  Tensor bent(const Tensor& x) const { return relu_ ? torch::relu(x) : x; }

  // Rows of f(u0 u1^T), each over its L5 norm. The largest entry is taken out of the norm, so that no power underflows.
  Tensor vectors(const Tensor& u) const {
    const Tensor outer = u.narrow(1, 0, s_).unsqueeze(2) * u.narrow(1, s_, s_).unsqueeze(1);  // [B, s, s]
    const Tensor v = bent(outer).flatten(1).unflatten(1, {k_, M_});                           // [B, k, M]
    // Where a row is zero any positive scale will do, and no gradient may come from there.
    const Tensor largest = v.detach().abs().amax(2, true), dead = largest == 0;  // [B, k, 1], as all below
    const Tensor scale = torch::where(dead, torch::ones_like(largest), largest);
    const Tensor sum = (v / scale).abs().pow(5).sum(2, true);
    const Tensor norm = scale * torch::where(dead, torch::ones_like(sum), sum).pow(0.2);
    return v / torch::where(dead, torch::zeros_like(norm), norm).clamp_min(1e-12);
  }

  std::int64_t k_, s_;
  bool relu_, table8_;
  ops::Linear hmi2h_{nullptr}, hm2alpha_{nullptr}, hm2beta_{nullptr}, hm2v_alpha_{nullptr}, hm2v_beta_{nullptr};
  torch::nn::LayerNorm ln_h_{nullptr};
  Tensor W_h2o_, b_o_;  // [H, H], [H]
};

// Variant `eq5`: the equations as paper B prints them.
class PlainNru : public Nru {
 public:
  PlainNru(const catalog::MixerContext& context, const Options& options) : Nru(context, options) {
    const std::int64_t reads = D_ + H_ + M_;
    w_h_ = register_module("w_h", ops::Linear(reads, H_));
    w_alpha_ = register_module("w_alpha", ops::Linear(reads, 1));
    w_beta_ = register_module("w_beta", ops::Linear(reads, 1));
    w_write_ = register_module("w_write", ops::Linear(reads, M_));
    w_erase_ = register_module("w_erase", ops::Linear(reads, M_));
  }

 protected:
  void move(Tensor& h, Tensor& m, const Tensor& x) override {
    const Tensor z = torch::cat({x, h, m}, 1);  // [B, D + H + M]
    const auto map = [&](ops::Linear& linear) { return torch::relu(linear->forward(z)); };
    h = map(w_h_);                                                         // [B, H]
    m = m + map(w_alpha_) * map(w_write_) - map(w_beta_) * map(w_erase_);  // [B, M]
  }

  Tensor fused(const Tensor& x) override {
    std::vector<Tensor> weights, biases;
    for (const ops::Linear& map : {w_h_, w_alpha_, w_beta_, w_write_, w_erase_}) {
      weights.push_back(map->weight);
      biases.push_back(map->bias);
    }
    const Tensor W = torch::cat(weights);  // [H + 2 + 2M, D + H + M]
    return ops::nru_plain_layer({H_, M_, 1, 0, true}, ops::linear_map(x, W.narrow(1, 0, D_), torch::cat(biases)),
                                W.narrow(1, D_, H_ + M_));
  }

 private:
  ops::Linear w_h_{nullptr}, w_alpha_{nullptr}, w_beta_{nullptr}, w_write_{nullptr}, w_erase_{nullptr};
};

}  // namespace

MixerPointer build_nru(const catalog::MixerContext& context, const Options& options) {
  if (options.text("variant") == "eq5") return std::make_shared<PlainNru>(context, options);
  return std::make_shared<OuterProductNru>(context, options);
}

}  // namespace mneme::mixers
