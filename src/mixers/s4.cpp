#include "mixers/list.h"

#include <algorithm>
#include <limits>

#include "nn/nested.h"
#include "nn/s4_system.h"
#include "ops/linear.h"
#include "ops/long_conv.h"
#include "ops/tap.h"

namespace mneme::mixers {
namespace {

using torch::Tensor;

class S4Layer : public torch::nn::Module, public nn::SelfInitialised {
 public:
  S4Layer(const nn::S4System::Shape& shape, const Options& options) {
    D = register_parameter("D", torch::zeros({1, shape.channels}));
    system = register_module("kernel",
                             std::make_shared<nn::S4System>(shape, options.real("dt_min"), options.real("dt_max")));
  }
  void initialise(const nn::Draw& draw, const std::string& prefix) override { draw.normal(D, prefix + "D", 1.0); }

  Tensor D;  // [1, H]
  std::shared_ptr<nn::S4System> system;
};

nn::S4System::Shape shape_of(const catalog::MixerContext& context, const Options& options) {
  const std::int64_t H = context.width, copies = options.integer("n_ssm"), nodes = options.integer("l_kernel");
  return {H, options.integer("d_state") / 2, options.integer("rank"), copies == 0 ? H : copies,
          nodes == 0 ? context.length : nodes};
}

class S4 : public Mixer {
 public:
  S4(const catalog::MixerContext& context, const Options& options)
      : H_(context.width),
        n_(options.integer("d_state") / 2),
        longest_(options.flag("truncate") ? context.length : std::numeric_limits<std::int64_t>::max()),
        dropout_(options.real("dropout")) {
    layer_ = register_module("layer", std::make_shared<S4Layer>(shape_of(context, options), options));
    output_linear_ = nn::register_nested(*this, "output_linear", "0", std::make_shared<ops::LinearImpl>(H_, 2 * H_));
  }

  Tensor forward(const Tensor& x, nn::Pass& pass) override {
    const std::int64_t taps = std::min(x.size(1), longest_);
    const Tensor kernel = layer_->system->kernel(taps, x);  // [taps, H]
    // The skip connection is one more term of tap 0.
    const Tensor with_skip =  // [taps, H]
        torch::cat({kernel.narrow(0, 0, 1) + layer_->D, kernel.narrow(0, 1, taps - 1)});
    const Tensor convolved = ops::long_conv(ops::tap(ops::TapPoint::values, x, *this), with_skip);  // [B, L, H]
    const Tensor y = pass.dropout(ops::tap(ops::TapPoint::mixed, convolved, *this), dropout_);      // [B, L, H]
    return torch::glu(output_linear_->forward(pass.dropout(torch::gelu(y), dropout_)), -1);
  }

  bool has_step() const override { return true; }

  // The complex states as [B, H, n, 2]. What the steps need of the parameters is made here, once.
  MixerState initial_state(std::int64_t batch) const override {
    recurrence_ = layer_->system->recurrence();
    return {{torch::zeros({batch, H_, n_, 2}, layer_->D.options())}};
  }

  Recurrence recurrence() const override { return {.tensors = {0}, .coupled = {2, 3}}; }
  Tensor step(MixerState& state, const Tensor& x) override {
    const nn::S4System::Recurrence& model = recurrence_;
    const auto reads = [](const Tensor& row, const Tensor& s) {  // [r, H, n], [B, H, n] -> [r, B, H, 1]
      return 2.0 * torch::real(row.unsqueeze(1) * s).sum(-1, true);
    };
    const auto low_rank = [&](const Tensor& row, const Tensor& s) {  // P (2 Re <row, s>)
      return (model.P.unsqueeze(1) * reads(row, s)).sum(0);
    };
    const Tensor old = torch::view_as_complex(state.tensors[0].to(torch::kFloat64).contiguous());  // [B, H, n]
    // [B, H, n], as next
    const Tensor pushed = model.E * old - low_rank(model.P.conj(), old) + model.B * x.to(torch::kFloat64).unsqueeze(2);
    const Tensor next = model.Dg * (pushed - low_rank(model.R, pushed));
    state.tensors[0] = torch::view_as_real(next).to(x.options());
    // [B, H]
    const Tensor y = (2.0 * torch::real(model.C * next).sum(2)).to(x.options()) + layer_->D.squeeze(0) * x;
    return torch::glu(output_linear_->forward(torch::gelu(y)), -1);
  }

 private:
  std::int64_t H_, n_, longest_;
  double dropout_;
  std::shared_ptr<S4Layer> layer_;
  std::shared_ptr<ops::LinearImpl> output_linear_;
  mutable nn::S4System::Recurrence recurrence_;
};

}  // namespace

MixerPointer build_s4(const catalog::MixerContext& context, const Options& options) {
  return std::make_shared<S4>(context, options);
}

}  // namespace mneme::mixers
