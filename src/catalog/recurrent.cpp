#include "catalog/recurrent.h"

#include "catalog/entries.h"

namespace mneme::catalog {
namespace {

// One layer holds `gates` blocks of H rows that read its input and its own state.
std::int64_t count(const MixerContext& context, const Options& options, std::int64_t gates) {
  const std::int64_t H = hidden_size(context, options), biases = options.flag("bias") ? 2 : 0;
  std::int64_t total = 0;
  for (std::int64_t layer = 0; layer < options.integer("num_layers"); ++layer)
    total += gates * H * ((layer == 0 ? context.width : H) + H + biases);
  return total;
}

std::int64_t floats(const MixerContext& context, const Options& options, std::int64_t vectors) {
  return vectors * hidden_size(context, options) * options.integer("num_layers");
}

double work(const MixerContext& context, const Options& options, double gates, double pointwise) {
  const auto D = static_cast<double>(context.width), L = static_cast<double>(context.length);
  const auto H = static_cast<double>(hidden_size(context, options));
  const auto layers = static_cast<double>(options.integer("num_layers"));
  return L * H * (2.0 * gates * (D + H + (layers - 1.0) * 2.0 * H) + pointwise * layers);
}

Schema common_options() {
  return {
      integer_field("hidden_size", 0, 0, 1 << 20, "channels H of the state and the output; 0: the width"),
      integer_field("num_layers", 1, 1, 64, "stacked layers inside the mixer"),
      flag_field("bias", true, "two bias vectors per layer, as in torch"),
      real_field("dropout", 0.0, 0.0, 0.999, "dropout between the layers, in training"),
  };
}

}  // namespace

std::int64_t hidden_size(const MixerContext& context, const Options& options) {
  const std::int64_t given = options.integer("hidden_size");
  return given == 0 ? context.width : given;
}

MixerEntry rnn_entry() {
  Schema options = common_options();
  options.push_back(choice_field("nonlinearity", "tanh", {"tanh", "relu"}, "relu can explode"));
  return {
      .name = "rnn",
      .family = "recurrent",
      .summary = "Elman's network: h = f(W x + U h_before + b)",
      .citation = "Elman 1990, Finding Structure in Time",
      .options = options,
      .parameters = [](const MixerContext& c, const Options& o) { return count(c, o, 1); },
      .state = [](const MixerContext& c, const Options& o) { return floats(c, o, 1); },
      .flops = [](const MixerContext& c, const Options& o) { return work(c, o, 1, 3); },
  };
}

MixerEntry lstm_entry() {
  return {
      .name = "lstm",
      .family = "recurrent",
      .summary = "long short-term memory: an additive cell with input, forget and output gates",
      .citation = "Hochreiter and Schmidhuber 1997, Long Short-Term Memory; forget gate: Gers et al. 2000",
      .options = common_options(),
      .parameters = [](const MixerContext& c, const Options& o) { return count(c, o, 4); },
      .state = [](const MixerContext& c, const Options& o) { return floats(c, o, 2); },
      .flops = [](const MixerContext& c, const Options& o) { return work(c, o, 4, 13); },
  };
}

MixerEntry gru_entry() {
  Schema options = common_options();
  options.push_back(flag_field("reset_before", false,
                               "the reset gate scales the state before its matrix product "
                               "(as the paper prints it), not after (as torch does it)"));
  return {
      .name = "gru",
      .family = "recurrent",
      .summary = "gated recurrent unit: the new state is a gated mean of the old one and a candidate",
      .citation = "Cho et al. 2014, Learning Phrase Representations using RNN Encoder-Decoder",
      .options = options,
      .parameters = [](const MixerContext& c, const Options& o) { return count(c, o, 3); },
      .state = [](const MixerContext& c, const Options& o) { return floats(c, o, 1); },
      .flops = [](const MixerContext& c, const Options& o) { return work(c, o, 3, 13); },
  };
}

}  // namespace mneme::catalog
