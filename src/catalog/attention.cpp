#include "catalog/entries.h"

namespace mneme::catalog {
namespace {

std::int64_t conv_streams(const Options& options) { return static_cast<std::int64_t>(options.text("conv_on").size()); }

std::int64_t parameters(const MixerContext& context, const Options& options) {
  const std::int64_t D = context.width, W = options.integer("conv_kernel");
  const std::int64_t projections = 4 * D * D + D + (options.flag("bias") ? 3 * D : 0);
  return projections + conv_streams(options) * D * (W + (options.flag("conv_bias") ? 1 : 0));
}

std::int64_t state(const MixerContext& context, const Options& options) {
  const std::int64_t D = context.width, W = options.integer("conv_kernel");
  return 2 * D * context.length + conv_streams(options) * (W - 1) * D;
}

// A query, its scores and its output. Only the causal half of the scores is useful work.
double output_flops(const MixerContext& context, const Options&) {
  const auto D = static_cast<double>(context.width), L = static_cast<double>(context.length);
  return 4.0 * D * D + 2.0 * D * (L + 1.0);
}

double flops(const MixerContext& context, const Options& options) {
  const auto D = static_cast<double>(context.width), L = static_cast<double>(context.length);
  const double convolutions = 2.0 * D * static_cast<double>(conv_streams(options) * options.integer("conv_kernel"));
  return L * (4.0 * D * D + output_flops(context, options) + convolutions);
}

bool knows_order(const Options& options) {
  return options.flag("rope") || (conv_streams(options) > 0 && options.integer("conv_kernel") > 1);
}

bool causal(const Options& options) { return conv_streams(options) == 0 || options.text("conv_pad") == "causal"; }

void validate(const MixerContext& context, const Options& options) {
  const std::int64_t heads = options.integer("num_heads");
  if (context.width % heads != 0)
    options.reject("num_heads", "a divisor of the width " + std::to_string(context.width));
  const std::string streams = options.text("conv_on");
  for (std::size_t i = 0; i < streams.size(); ++i)
    if (std::string("qkv").find(streams[i]) == std::string::npos || streams.find(streams[i]) != i)
      options.reject("conv_on", "a subset of the letters q, k, v, for example \"qkv\" or \"k\"");
  if (options.text("conv_pad") == "same" && options.integer("conv_kernel") % 2 == 0)
    options.reject("conv_kernel", "an odd number with conv_pad = \"same\"");
  if (options.flag("rope")) {
    const auto rotated =
        static_cast<std::int64_t>(static_cast<double>(context.width / heads) * options.real("rope_pct"));
    if (rotated % 2 != 0 || rotated == 0)
      options.reject("rope_pct", "a share that rotates an even, positive number of the " +
                                     std::to_string(context.width / heads) + " channels of a head");
  }
}

}  // namespace

MixerEntry attention_entry() {
  return {
      .name = "attention",
      .family = "attention",
      .summary = "causal softmax attention, optionally with short convolutions on Q, K, V and rotary positions",
      .citation =
          "Vaswani et al. 2017, Attention Is All You Need; convolutions after Li et al. 2024; "
          "rotary positions: Su et al. 2021",
      .options =
          {
              integer_field("num_heads", 1, 1, 4096, "heads; must divide the width"),
              real_field("dropout", 0.0, 0.0, 0.999, "dropout on the attention probabilities, in training"),
              flag_field("bias", true, "biases of the QKV projection"),
              text_field("conv_on", "", "streams with a depthwise convolution: any of the letters q, k, v"),
              integer_field("conv_kernel", 3, 1, 1024, "taps of the convolutions"),
              choice_field("conv_place", "pre", {"pre", "post"}, "before or after the projection"),
              flag_field("conv_bias", true, "biases of the convolutions"),
              choice_field("conv_pad", "causal", {"causal", "same"}, "same: centred, looks ahead (not causal)"),
              flag_field("rope", false, "rotary positions on queries and keys"),
              real_field("rope_base", 10000.0, 1.0, 1e12, "base of the rotary angles"),
              real_field("rope_pct", 1.0, 0.0, 1.0, "share of each head's channels that rotate"),
          },
      .parameters = parameters,
      .state = state,
      .flops = flops,
      .knows_order = knows_order,
      .causal = causal,
      .validate = validate,
      .output_flops = output_flops,
  };
}

}  // namespace mneme::catalog
