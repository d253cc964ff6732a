#include "mixers/list.h"

#include "core/error.h"
#include "ops/linear.h"
#include "ops/mlp.h"

namespace mneme::mixers {
namespace {

torch::Tensor activate(const std::string& name, const torch::Tensor& x) {
  if (name == "gelu") return torch::gelu(x);
  if (name == "silu") return torch::silu(x);
  require(name == "relu", "activation of the schema");
  return torch::relu(x);
}

// A mixer that treats every position alone: its step is its forward.
class Pointwise : public Mixer {
 public:
  bool has_step() const override { return true; }
  bool is_pointwise() const override { return true; }
  MixerState initial_state(std::int64_t) const override { return {}; }
  torch::Tensor step(MixerState&, const torch::Tensor& x) override {
    nn::Pass pass = nn::Pass::evaluation();
    return forward(x, pass);
  }
};

// [.., D] -> [.., hidden] -> [.., D]
class Mlp : public Pointwise {
 public:
  Mlp(const catalog::MixerContext& context, const Options& options) : activation_(options.text("activation")) {
    const std::int64_t D = context.width, hidden = options.integer("hidden_mult") * D;
    fc1_ = register_module("fc1", ops::Linear(D, hidden));
    fc2_ = register_module("fc2", ops::Linear(hidden, D));
  }
  torch::Tensor forward(const torch::Tensor& x, nn::Pass&) override {
    if (activation_ == "gelu") return ops::gelu_mlp(x, fc1_, fc2_);  // [.., D]
    return fc2_->forward(activate(activation_, fc1_->forward(x)));
  }

 private:
  std::string activation_;
  ops::Linear fc1_{nullptr}, fc2_{nullptr};
};

// [.., D] -> twice [.., hidden] -> [.., D]
class Glu : public Pointwise {
 public:
  Glu(const catalog::MixerContext& context, const Options& options) : activation_(options.text("activation")) {
    const std::int64_t D = context.width, hidden = options.integer("hidden_mult") * D;
    fc1_ = register_module("fc1", ops::Linear(D, hidden));
    fc2_ = register_module("fc2", ops::Linear(D, hidden));
    fc3_ = register_module("fc3", ops::Linear(hidden, D));
  }
  torch::Tensor forward(const torch::Tensor& x, nn::Pass&) override {
    return fc3_->forward(fc1_->forward(x) * activate(activation_, fc2_->forward(x)));  // [.., hidden] inside
  }

 private:
  std::string activation_;
  ops::Linear fc1_{nullptr}, fc2_{nullptr}, fc3_{nullptr};
};

class Identity : public Pointwise {
 public:
  torch::Tensor forward(const torch::Tensor& x, nn::Pass&) override { return x; }
};

}  // namespace

MixerPointer build_mlp(const catalog::MixerContext& context, const Options& options) {
  return std::make_shared<Mlp>(context, options);
}

MixerPointer build_glu(const catalog::MixerContext& context, const Options& options) {
  return std::make_shared<Glu>(context, options);
}

MixerPointer build_identity(const catalog::MixerContext&, const Options&) { return std::make_shared<Identity>(); }

}  // namespace mneme::mixers
