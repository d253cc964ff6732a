#include "catalog/retention.h"

#include "catalog/entries.h"

namespace mneme::catalog {
namespace {

// Widths of the q, k and v projections together: each may have a convolution.
std::int64_t stream_width(const MixerContext& context, const Options& options) {
  const HeadWidths widths = head_widths(context, options);
  return widths.key + (widths.key + widths.value) / retention_groups(options);
}

std::int64_t shared_parameters(const MixerContext& context, const Options& options) {
  const HeadWidths widths = head_widths(context, options);
  const std::int64_t D = context.width, streams = stream_width(context, options);
  const std::int64_t values = options.flag("use_output_gate") ? 2 : 1;
  const std::int64_t conv = options.flag("use_short_conv")
                                ? streams * (options.integer("conv_size") + (options.flag("conv_bias") ? 1 : 0))
                                : 0;
  return D * (streams + values * widths.value) + conv + (options.flag("elementwise_affine") ? widths.head_value() : 0);
}

std::int64_t gla_parameters(const MixerContext& context, const Options& options) {
  const std::int64_t rank = options.integer("gate_low_rank_dim");
  const std::int64_t decays = head_widths(context, options).key / retention_groups(options);
  return shared_parameters(context, options) + rank * context.width + (rank + 1) * decays;
}

std::int64_t state(const MixerContext& context, const Options& options) {
  const HeadWidths widths = head_widths(context, options);
  const std::int64_t conv =
      options.flag("use_short_conv") ? (options.integer("conv_size") - 1) * stream_width(context, options) : 0;
  return widths.key * widths.head_value() + conv;
}

double shared_flops(const MixerContext& context, const Options& options) {
  const HeadWidths widths = head_widths(context, options);
  const auto L = static_cast<double>(context.length), D = static_cast<double>(context.width);
  const auto streams = static_cast<double>(stream_width(context, options));
  const double values = options.flag("use_output_gate") ? 2.0 : 1.0;
  const double conv =
      options.flag("use_short_conv") ? 2.0 * streams * static_cast<double>(options.integer("conv_size")) : 0.0;
  // Decay, update and read-out of the state.
  const double scan = 5.0 * static_cast<double>(widths.key * widths.head_value());
  return L * (2.0 * D * (streams + values * static_cast<double>(widths.value)) + conv + scan);
}

double gla_flops(const MixerContext& context, const Options& options) {
  const auto rank = static_cast<double>(options.integer("gate_low_rank_dim"));
  const auto decays = static_cast<double>(head_widths(context, options).key / retention_groups(options));
  return shared_flops(context, options) +
         2.0 * rank * static_cast<double>(context.length) * (static_cast<double>(context.width) + decays);
}

// The gate and the output projection.
double output_flops(const MixerContext& context, const Options& options) {
  const double values = options.flag("use_output_gate") ? 2.0 : 1.0;
  return 2.0 * values * static_cast<double>(context.width * head_widths(context, options).value);
}

// And reading the state.
double retnet_output_flops(const MixerContext& context, const Options& options) {
  const HeadWidths widths = head_widths(context, options);
  return output_flops(context, options) + 2.0 * static_cast<double>(widths.key * widths.head_value());
}

void validate(const MixerContext& context, const Options& options) {
  validate_head_widths(context, options);
  const std::int64_t kv = options.integer("num_kv_heads");
  if (kv != 0 && options.integer("num_heads") % kv != 0) options.reject("num_kv_heads", "0 or a divisor of num_heads");
}

void validate_retnet(const MixerContext& context, const Options& options) {
  validate(context, options);
  const std::int64_t dk = head_widths(context, options).head_key();
  if (dk % 2 != 0)
    options.reject("num_heads",
                   "heads with an even number of key channels, to rotate in pairs; this makes " + std::to_string(dk));
}

Schema options_schema(double expand_k, double expand_v) {
  return {
      integer_field("num_heads", 4, 1, 4096, "heads; must divide the key and value widths"),
      integer_field("num_kv_heads", 0, 0, 4096,
                    "key and value heads, each for several query heads; 0: as many as num_heads"),
      real_field("expand_k", expand_k, 0.0, 64.0, "width of all keys as a multiple of the width"),
      real_field("expand_v", expand_v, 0.0, 64.0, "width of all values as a multiple of the width"),
      choice_field("feature_map", "none", {"none", "relu", "silu", "swish", "sigmoid", "gelu"},
                   "function on queries and keys"),
      flag_field("use_short_conv", false, "depthwise convolution and SiLU on queries, keys and values"),
      integer_field("conv_size", 4, 1, 1024, "taps of the convolutions"),
      flag_field("conv_bias", false, "biases of the convolutions"),
      flag_field("use_output_gate", true, "multiply the normed output with gate_fn(g_proj x)"),
      choice_field("gate_fn", "swish", {"swish", "silu", "relu", "sigmoid", "gelu"}, "function of the output gate"),
      real_field("norm_eps", 1e-5, 0.0, 1.0, "epsilon of the output norm"),
      flag_field("fuse_norm", true,
                 "changes only the name of the norm: g_norm_swish_gate with a swish gate, else g_norm"),
      flag_field("elementwise_affine", true, "learned scale of the output norm"),
  };
}

}  // namespace

std::int64_t retention_groups(const Options& options) {
  const std::int64_t kv = options.integer("num_kv_heads");
  return kv == 0 ? 1 : options.integer("num_heads") / kv;
}

MixerEntry retnet_entry() {
  return {
      .name = "retnet",
      .family = "linear attention",
      .summary = "multi-scale retention: rotary queries and keys, state decays at a fixed rate per head",
      .citation = "Sun et al. 2023, Retentive Network: A Successor to Transformer for Large Language Models",
      .options = options_schema(1.0, 2.0),
      .parameters = shared_parameters,
      .state = state,
      .flops = shared_flops,
      .validate = validate_retnet,
      .output_flops = retnet_output_flops,
  };
}

MixerEntry gla_entry() {
  Schema options = options_schema(0.5, 1.0);
  options.push_back(
      real_field("gate_logit_normalizer", 16.0, 1e-6, 1e6, "divides the log decays: larger forgets less"));
  options.push_back(integer_field("gate_low_rank_dim", 16, 1, 65536, "rank of the decay projection"));
  options.push_back(or_word(real_field("clamp_min", "none", -1e9, 0.0, "smallest log decay, or none"), {"none"}));
  return {
      .name = "gla",
      .family = "linear attention",
      .summary = "gated linear attention: each key channel decays at a rate chosen by the token",
      .citation = "Yang et al. 2023, Gated Linear Attention Transformers with Hardware-Efficient Training",
      .options = options,
      .parameters = gla_parameters,
      .state = state,
      .flops = gla_flops,
      .validate = validate,
      .output_flops = output_flops,
  };
}

}  // namespace mneme::catalog
