#include "catalog/entries.h"

namespace mneme::catalog {
namespace {

std::int64_t parameters(const MixerContext& context, const Options& options) {
  const std::int64_t D = context.width, F = options.integer("dim_feedforward");
  const std::int64_t layer = 4 * D * D + 4 * D + 2 * D * F + F + D + 4 * D;
  return options.integer("num_layers") * layer;
}

std::int64_t state(const MixerContext& context, const Options& options) {
  return options.integer("num_layers") * 2 * context.width * context.length;
}

double flops(const MixerContext& context, const Options& options) {
  const auto D = static_cast<double>(context.width), L = static_cast<double>(context.length);
  const auto F = static_cast<double>(options.integer("dim_feedforward"));
  // Only the scores that the mask leaves are useful work.
  const double pairs = options.flag("causal") ? 0.5 * L * (L + 1.0) : L * L;
  return static_cast<double>(options.integer("num_layers")) * (L * (8.0 * D * D + 4.0 * D * F) + 4.0 * D * pairs);
}

// Behind a causal mask a second layer can tell positions apart by what the first one saw; a single one cannot.
bool knows_order(const Options& options) {
  return options.text("pos") != "none" || (options.flag("causal") && options.integer("num_layers") > 1);
}

void validate(const MixerContext& context, const Options& options) {
  if (context.width % options.integer("nhead") != 0)
    options.reject("nhead", "a divisor of the width " + std::to_string(context.width));
}

}  // namespace

MixerEntry transformer_entry() {
  return {
      .name = "transformer",
      .family = "attention",
      .summary = "torch's encoder layer with a causal mask: attention, feed-forward network, two layer norms",
      .citation = "Vaswani et al. 2017, Attention Is All You Need",
      .options =
          {
              integer_field("nhead", 1, 1, 4096, "heads; must divide the width"),
              integer_field("dim_feedforward", 128, 1, 1 << 20, "hidden width F of the feed-forward network"),
              choice_field("pos", "none", {"none", "sincos"}, "sincos: fixed sinusoids are added to the input"),
              flag_field("norm_first", false, "normalise before each part, not after it"),
              choice_field("activation", "relu", {"relu", "gelu"},
                           "activation of the feed-forward network; gelu is the erf form"),
              integer_field("num_layers", 1, 1, 256, "stacked layers inside the mixer"),
              flag_field("causal", true, "false: every token sees the whole sequence"),
              real_field("layer_norm_eps", 1e-5, 0.0, 1.0, "epsilon of the layer norms, added to the variance"),
              real_field("dropout", 0.0, 0.0, 0.999,
                         "dropout on probabilities, hidden activations and both branches, in training"),
          },
      .parameters = parameters,
      .state = state,
      .flops = flops,
      .knows_order = knows_order,
      .causal = [](const Options& options) { return options.flag("causal"); },
      .validate = validate,
  };
}

}  // namespace mneme::catalog
