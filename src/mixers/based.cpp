#include "mixers/based.h"

#include "mixers/gated_scan_op.h"
#include "mixers/taylor_features_op.h"

namespace mneme {
namespace {

class Based : public Mixer {
 public:
  Based(const MixerContext& context, const Options& options)
      : D_(context.width), H_(options.integer("num_heads")), F_(options.integer("feature_dim")), eps_(options.real("eps")) {
    const auto linear = [&](const char* name, std::int64_t out) {
      return register_module(name, torch::nn::Linear(torch::nn::LinearOptions(D_, out).bias(false)));
    };
    proj_q_ = linear("proj_q", H_ * F_);
    proj_k_ = linear("proj_k", H_ * F_);
    proj_v_ = linear("proj_v", D_);
    proj_o_ = linear("proj_o", D_);
  }

  torch::Tensor forward(const torch::Tensor& x, Pass&) override {
    const auto [q, k, v] = streams(x);
    return output(gated_scan(q, k, v, {}));
  }

  bool has_step() const override { return true; }

  // S [B, H, features, dv + 1]: weighted values, and the sum of the key features in the last column.
  MixerState initial_state(std::int64_t batch) const override {
    const std::int64_t features = 1 + F_ + F_ * (F_ + 1) / 2;
    return {{torch::zeros({batch, H_, features, D_ / H_ + 1}, proj_v_->weight.options().requires_grad(false))}};
  }

  torch::Tensor step(MixerState& state, const torch::Tensor& x) override {
    const auto [q, k, v] = streams(x);
    return output(gated_scan_step(state.tensors[0], q, k, v, {}));
  }

 private:
  // Features [.., H, features] twice, and values with a 1 behind each: [.., H, dv + 1].
  std::array<torch::Tensor, 3> streams(const torch::Tensor& x) {
    const auto heads = [&](const torch::Tensor& y) { return y.unflatten(-1, {H_, y.size(-1) / H_}); };
    const torch::Tensor v = heads(proj_v_->forward(x));
    return {taylor_features(heads(proj_q_->forward(x))), taylor_features(heads(proj_k_->forward(x))),
            torch::cat({v, torch::ones_like(v.narrow(-1, 0, 1))}, -1)};
  }

  torch::Tensor output(const torch::Tensor& o) {
    const std::int64_t dv = D_ / H_;
    return proj_o_->forward((o.narrow(-1, 0, dv) / (o.narrow(-1, dv, 1) + eps_)).flatten(-2));
  }

  std::int64_t D_, H_, F_;
  double eps_;
  torch::nn::Linear proj_q_{nullptr}, proj_k_{nullptr}, proj_v_{nullptr}, proj_o_{nullptr};
};

}  // namespace

MixerPointer build_based(const MixerContext& context, const Options& options) {
  return std::make_shared<Based>(context, options);
}

}  // namespace mneme
