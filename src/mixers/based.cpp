#include "mixers/list.h"

#include "ops/gated_scan.h"
#include "ops/linear.h"
#include "ops/tap.h"
#include "ops/taylor_features.h"

namespace mneme::mixers {
namespace {

class Based : public Mixer {
 public:
  Based(const catalog::MixerContext& context, const Options& options)
      : D_(context.width),
        H_(options.integer("num_heads")),
        F_(options.integer("feature_dim")),
        eps_(options.real("eps")) {
    const auto linear = [&](const char* name, std::int64_t out) {
      return register_module(name, ops::Linear(torch::nn::LinearOptions(D_, out).bias(false)));
    };
    proj_q_ = linear("proj_q", H_ * F_);
    proj_k_ = linear("proj_k", H_ * F_);
    proj_v_ = linear("proj_v", D_);
    proj_o_ = linear("proj_o", D_);
  }

  torch::Tensor forward(const torch::Tensor& x, nn::Pass&) override { return proj_o_->forward(averages(x)); }

  torch::Tensor forward_at(const torch::Tensor& x, const torch::Tensor& positions, nn::Pass&) override {
    return proj_o_->forward(ops::select_positions(averages(x), positions));
  }

  bool has_step() const override { return true; }

  // S [B, H, features, dv + 1]: weighted values, and the sum of the key features in the last column.
  MixerState initial_state(std::int64_t batch) const override {
    const std::int64_t features = 1 + F_ + F_ * (F_ + 1) / 2;
    return {{torch::zeros({batch, H_, features, D_ / H_ + 1}, proj_v_->weight.options().requires_grad(false))}};
  }

  Recurrence recurrence() const override { return {.tensors = {0}, .coupled = {}}; }
  torch::Tensor step(MixerState& state, const torch::Tensor& x) override {
    const std::int64_t dv = D_ / H_;
    const torch::Tensor v = with_one(heads(proj_v_->forward(x)));  // [B, H, dv + 1]
    const torch::Tensor o = ops::gated_scan_step(state.tensors[0], features(proj_q_, x), features(proj_k_, x), v, {});
    return proj_o_->forward((o.narrow(-1, 0, dv) / (o.narrow(-1, dv, 1) + eps_)).flatten(-2));
  }

 private:
  // Values are weighted relative to the first token's, which is added back: the average of few values then has few
  // digits to lose, and the gradient of the weights is exactly zero where there is nothing to choose from.
  // [B, L, D]
  torch::Tensor averages(const torch::Tensor& x) {
    const std::int64_t dv = D_ / H_;
    const torch::Tensor v = ops::tap(ops::TapPoint::values, heads(proj_v_->forward(x)), *this);  // [B, L, H, dv]
    const torch::Tensor origin = v.narrow(1, 0, 1);                                              // [B, 1, H, dv]
    // [B, L, H, dv + 1]
    const torch::Tensor o = ops::gated_scan(features(proj_q_, x), features(proj_k_, x), with_one(v - origin), {});
    const torch::Tensor sum = o.narrow(-1, dv, 1) + eps_;                                // [B, L, H, 1]
    const torch::Tensor mean = o.narrow(-1, 0, dv) / sum + origin * (1.0 - eps_ / sum);  // [B, L, H, dv]
    return ops::tap(ops::TapPoint::mixed, mean, *this).flatten(-2);
  }

  // [.., C] -> [.., H, C / H]
  torch::Tensor heads(const torch::Tensor& y) const { return y.unflatten(-1, {H_, y.size(-1) / H_}); }

  // [.., H, features]
  torch::Tensor features(ops::Linear& projection, const torch::Tensor& x) const {
    return ops::taylor_features(heads(projection->forward(x)));
  }

  // A 1 after each value, whose weighted sum is the sum of the weights: [.., H, dv + 1].
  static torch::Tensor with_one(const torch::Tensor& v) {
    return torch::cat({v, torch::ones_like(v.narrow(-1, 0, 1))}, -1);
  }

  std::int64_t D_, H_, F_;
  double eps_;
  ops::Linear proj_q_{nullptr}, proj_k_{nullptr}, proj_v_{nullptr}, proj_o_{nullptr};
};

}  // namespace

MixerPointer build_based(const catalog::MixerContext& context, const Options& options) {
  return std::make_shared<Based>(context, options);
}

}  // namespace mneme::mixers
