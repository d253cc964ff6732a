#include "mixers/list.h"

#include <cmath>

#include "catalog/recurrent.h"
#include "ops/linear.h"
#include "ops/path.h"
#include "ops/recurrent.h"

namespace mneme::mixers {
namespace {

using torch::Tensor;

// The names of torch.nn's cells, one set a layer; biases are undefined without `bias`.
struct Layer {
  Tensor weight_ih, weight_hh, bias_ih, bias_hh;  // [gates * H, D or H], [gates * H, H], [gates * H] twice
};

// A stack of layers of one kind of cell. States are vectors of [B, H], all of one layer together.
class Recurrent : public Mixer, public nn::SelfInitialised {
 public:
  Recurrent(const catalog::MixerContext& context, const Options& options, std::int64_t gates, std::size_t vectors)
      : H_(catalog::hidden_size(context, options)), vectors_(vectors), dropout_(options.real("dropout")) {
    for (std::int64_t k = 0; k < options.integer("num_layers"); ++k) {
      const std::string suffix = "_l" + std::to_string(k);
      Layer layer;
      layer.weight_ih =
          register_parameter("weight_ih" + suffix, torch::zeros({gates * H_, k == 0 ? context.width : H_}));
      layer.weight_hh = register_parameter("weight_hh" + suffix, torch::zeros({gates * H_, H_}));
      if (options.flag("bias")) {
        layer.bias_ih = register_parameter("bias_ih" + suffix, torch::zeros({gates * H_}));
        layer.bias_hh = register_parameter("bias_hh" + suffix, torch::zeros({gates * H_}));
      }
      layers_.push_back(layer);
    }
  }

  Tensor forward(const Tensor& x, nn::Pass& pass) override {
    Tensor y = x;  // [B, L, D], then [B, L, H]
    for (std::size_t k = 0; k < layers_.size(); ++k) {
      if (k > 0) y = pass.dropout(y, dropout_);
      y = ops::use_kernels(x) && has_kernel() ? fused_layer(layers_[k], y.transpose(0, 1)).transpose(0, 1)
                                              : composed_layer(layers_[k], y);
    }
    return y;
  }

  bool has_step() const override { return true; }

  MixerState initial_state(std::int64_t batch) const override {
    MixerState state;
    for (std::size_t i = 0; i < layers_.size() * vectors_; ++i)
      state.tensors.push_back(torch::zeros({batch, H_}, parameters().front().options()));
    return state;
  }

  Tensor step(MixerState& state, const Tensor& x) override {
    Tensor y = x;  // [B, D], then [B, H]
    for (std::size_t k = 0; k < layers_.size(); ++k) {
      const Tensor a = ops::linear_map(y, layers_[k].weight_ih, layers_[k].bias_ih);  // [B, gates * H]
      y = cell(layers_[k], a, state.tensors.data() + k * vectors_);
    }
    return y;
  }

  // The bound is that of H for every tensor, also those that read the input.
  void initialise(const nn::Draw& draw, const std::string& prefix) override {
    const double bound = 1.0 / std::sqrt(static_cast<double>(H_));
    for (const auto& item : named_parameters(false)) draw.uniform(item.value(), prefix + item.key(), bound);
  }

 protected:
  // a = W_ih x + b_ih of one step; moves the state on and returns the new h.
  virtual Tensor cell(const Layer& layer, const Tensor& a, Tensor* state) const = 0;
  // All steps at once, time first, by kernels.
  virtual Tensor fused_layer(const Layer& layer, const Tensor& x) const = 0;
  virtual bool has_kernel() const { return true; }

  std::int64_t H_;

 private:
  Tensor composed_layer(const Layer& layer, const Tensor& x) const {
    const Tensor a = ops::linear_map(x, layer.weight_ih, layer.bias_ih);                       // [B, L, gates * H]
    std::vector<Tensor> state(vectors_, torch::zeros({x.size(0), H_}, x.options())), outputs;  // [B, H] each
    for (const Tensor& step : a.unbind(1)) outputs.push_back(cell(layer, step, state.data()));
    return torch::stack(outputs, 1);
  }

  std::size_t vectors_;
  double dropout_;
  std::vector<Layer> layers_;
};

Tensor both_biases(const Layer& layer) { return layer.bias_ih.defined() ? layer.bias_ih + layer.bias_hh : Tensor(); }

class Rnn : public Recurrent {
 public:
  Rnn(const catalog::MixerContext& context, const Options& options)
      : Recurrent(context, options, 1, 1), relu_(options.text("nonlinearity") == "relu") {}

 protected:
  Tensor cell(const Layer& layer, const Tensor& a, Tensor* state) const override {
    const Tensor sum = a + ops::linear_map(state[0], layer.weight_hh, layer.bias_hh);  // [B, H]
    return state[0] = relu_ ? torch::relu(sum) : torch::tanh(sum);
  }
  Tensor fused_layer(const Layer& layer, const Tensor& x) const override {
    return ops::rnn_layer(ops::linear_map(x, layer.weight_ih, both_biases(layer)), layer.weight_hh, relu_);
  }

 private:
  bool relu_;
};

class Lstm : public Recurrent {
 public:
  Lstm(const catalog::MixerContext& context, const Options& options) : Recurrent(context, options, 4, 2) {}

 protected:
  Tensor cell(const Layer& layer, const Tensor& a, Tensor* state) const override {
    const auto gate = (a + ops::linear_map(state[0], layer.weight_hh, layer.bias_hh)).chunk(4, 1);  // i, f, g, o
    state[1] = torch::sigmoid(gate[1]) * state[1] + torch::sigmoid(gate[0]) * torch::tanh(gate[2]);
    return state[0] = torch::sigmoid(gate[3]) * torch::tanh(state[1]);  // [B, H]
  }
  Tensor fused_layer(const Layer& layer, const Tensor& x) const override {
    return ops::lstm_layer(ops::linear_map(x, layer.weight_ih, both_biases(layer)), layer.weight_hh);
  }
};

class Gru : public Recurrent {
 public:
  Gru(const catalog::MixerContext& context, const Options& options)
      : Recurrent(context, options, 3, 1), reset_before_(options.flag("reset_before")) {}

 protected:
  bool has_kernel() const override { return !reset_before_; }

  Tensor cell(const Layer& layer, const Tensor& a, Tensor* state) const override {
    const auto in = a.chunk(3, 1);  // r, z, n
    const Tensor& h = state[0];     // [B, H], as r, z and n below
    const std::int64_t H = H_;
    const auto back = [&](std::int64_t first, std::int64_t blocks, const Tensor& from) {
      // [blocks * H] or undefined
      const Tensor bias = layer.bias_hh.defined() ? layer.bias_hh.narrow(0, first * H, blocks * H) : Tensor();
      return ops::linear_map(from, layer.weight_hh.narrow(0, first * H, blocks * H), bias);
    };
    const auto gates = back(0, 2, h).chunk(2, 1);  // r, z: [B, H] each
    const Tensor r = torch::sigmoid(in[0] + gates[0]), z = torch::sigmoid(in[1] + gates[1]);
    const Tensor n = torch::tanh(in[2] + (reset_before_ ? back(2, 1, r * h) : r * back(2, 1, h)));
    return state[0] = n + z * (h - n);  // [B, H]
  }

  Tensor fused_layer(const Layer& layer, const Tensor& x) const override {
    Tensor bias, bias_n = torch::zeros({H_}, x.options());  // [3 H], [H]
    if (layer.bias_ih.defined()) {
      bias_n = layer.bias_hh.narrow(0, 2 * H_, H_);
      // The n block of b_hh is scaled by the reset gate, so it cannot join b_ih.
      bias = layer.bias_ih + torch::constant_pad_nd(layer.bias_hh.narrow(0, 0, 2 * H_), {0, H_});
    }
    return ops::gru_layer(ops::linear_map(x, layer.weight_ih, bias), layer.weight_hh, bias_n);
  }

 private:
  bool reset_before_;
};

}  // namespace

MixerPointer build_rnn(const catalog::MixerContext& context, const Options& options) {
  return std::make_shared<Rnn>(context, options);
}

MixerPointer build_lstm(const catalog::MixerContext& context, const Options& options) {
  return std::make_shared<Lstm>(context, options);
}

MixerPointer build_gru(const catalog::MixerContext& context, const Options& options) {
  return std::make_shared<Gru>(context, options);
}

}  // namespace mneme::mixers
