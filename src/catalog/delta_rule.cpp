#include "catalog/delta_rule.h"

#include <cmath>

#include "catalog/entries.h"

namespace mneme::catalog {
namespace {

std::int64_t parameters(const MixerContext& context, const DeltaRuleSizes& s) {
  const std::int64_t D = context.width, streams = s.q_width() + s.k_width() + s.v_width();
  std::int64_t count = D * streams + D * s.out_width() + s.value_size;
  if (s.beta) count += D * s.householders * s.value_heads;
  if (s.decay) count += (D + 2) * s.value_heads;
  if (s.gate) count += D * s.out_width();
  if (s.conv) count += streams * (s.taps + (s.conv_bias ? 1 : 0));
  return count;
}

std::int64_t state(const DeltaRuleSizes& s) {
  const std::int64_t windows = s.conv ? (s.taps - 1) * (s.q_width() + s.k_width() + s.v_width()) : 0;
  return s.value_heads * s.key_size * s.value_size + windows;
}

double flops(const MixerContext& context, const DeltaRuleSizes& s) {
  const auto D = static_cast<double>(context.width);
  const auto streams = static_cast<double>(s.q_width() + s.k_width() + s.v_width());
  double token = 2.0 * D * (streams + static_cast<double>(s.out_width() * (s.gate ? 2 : 1)));
  if (s.beta) token += 2.0 * D * static_cast<double>(s.householders * s.value_heads);
  if (s.decay) token += 2.0 * D * static_cast<double>(s.value_heads);
  if (s.conv) token += 2.0 * static_cast<double>(s.taps) * streams;
  // Each correction reads and writes the state, the output reads it once more, the decay scales it.
  const auto visits = static_cast<double>(4 * s.householders + 2 + (s.decay ? 1 : 0));
  token += visits * static_cast<double>(s.value_heads * s.key_size * s.value_size);
  return token * static_cast<double>(context.length);
}

// The gate and the output projection.
double output_flops(const MixerContext& context, const DeltaRuleSizes& s) {
  return (s.gate ? 4.0 : 2.0) * static_cast<double>(context.width * s.out_width());
}

template <DeltaRuleSizes (*sizes)(const MixerContext&, const Options&)>
MixerEntry entry(std::string name, std::string summary, std::string citation, Schema options,
                 void (*validate)(const MixerContext&, const Options&)) {
  return {
      .name = std::move(name),
      .family = "delta rule",
      .summary = std::move(summary),
      .citation = std::move(citation),
      .options = std::move(options),
      .parameters = [](const MixerContext& c, const Options& o) { return parameters(c, sizes(c, o)); },
      .state = [](const MixerContext& c, const Options& o) { return state(sizes(c, o)); },
      .flops = [](const MixerContext& c, const Options& o) { return flops(c, sizes(c, o)); },
      .validate = validate,
      .output_flops = [](const MixerContext& c, const Options& o) { return output_flops(c, sizes(c, o)); },
  };
}

void read_common(const Options& options, DeltaRuleSizes& sizes) {
  sizes.conv = options.flag("use_short_conv");
  sizes.taps = options.integer("conv_size");
  sizes.conv_bias = options.flag("conv_bias");
  sizes.double_beta = options.flag("allow_neg_eigval");
  sizes.eps = options.real("norm_eps");
}

// head_dim, or the width shared out over the heads if it is 0; and the values' size from expand_v.
void read_heads(const MixerContext& context, const Options& options, DeltaRuleSizes& sizes) {
  sizes.heads = sizes.value_heads = options.integer("num_heads");
  const std::int64_t given = options.integer("head_dim");
  sizes.key_size = given != 0 ? given : context.width / sizes.heads;
  sizes.value_size = std::llround(static_cast<double>(sizes.key_size) * options.real("expand_v"));
}

void check_heads(const MixerContext& context, const Options& options) {
  const std::int64_t heads = options.integer("num_heads"), given = options.integer("head_dim");
  if (given == 0 && context.width % heads != 0)
    options.reject("num_heads", "a divisor of the width " + std::to_string(context.width) + ", or a head_dim");
  const double values = static_cast<double>(given != 0 ? given : context.width / heads) * options.real("expand_v");
  if (values < 1.0 || values != std::floor(values))
    options.reject("expand_v", "a factor that gives a head a whole number of value channels");
}

void check_deltanet(const MixerContext& context, const Options& options) {
  for (const char* option : {"expand_k", "expand_v"}) {
    const double share =
        static_cast<double>(context.width) * options.real(option) / static_cast<double>(options.integer("num_heads"));
    if (share < 1.0 || share != std::floor(share))
      options.reject(option, "a factor that gives each of " + std::to_string(options.integer("num_heads")) +
                                 " heads a whole number of channels at width " + std::to_string(context.width));
  }
}

void check_value_heads(const MixerContext& context, const Options& options) {
  check_heads(context, options);
  if (options.integer("num_v_heads") % options.integer("num_heads") != 0)
    options.reject("num_v_heads", "0, or a multiple of num_heads");
}

// The options that all three have, around those of one.
Schema schema(Schema own, bool negative) {
  own.push_back(flag_field("use_short_conv", true, "short convolutions on the streams q, k, v"));
  own.push_back(integer_field("conv_size", 4, 1, 1024, "taps of the short convolutions"));
  own.push_back(flag_field("conv_bias", false, "biases of the short convolutions"));
  own.push_back(
      flag_field("allow_neg_eigval", negative, "beta in (0, 2): the state can be reflected, not only erased"));
  own.push_back(real_field("norm_eps", 1e-5, 1e-12, 1.0, "eps of the output norm"));
  return own;
}

}  // namespace

DeltaRuleSizes deltanet_sizes(const MixerContext& context, const Options& options) {
  DeltaRuleSizes sizes;
  read_common(options, sizes);
  sizes.heads = sizes.value_heads = options.integer("num_heads");
  const auto share = [&](const char* option) {
    return std::llround(static_cast<double>(context.width) * options.real(option)) / sizes.heads;
  };
  sizes.key_size = share("expand_k");
  sizes.value_size = share("expand_v");
  sizes.beta = options.flag("use_beta");
  sizes.gate = options.flag("use_gate");
  return sizes;
}

DeltaRuleSizes gated_deltanet_sizes(const MixerContext& context, const Options& options) {
  DeltaRuleSizes sizes;
  read_common(options, sizes);
  read_heads(context, options, sizes);
  if (options.integer("num_v_heads") != 0) sizes.value_heads = options.integer("num_v_heads");
  sizes.decay = true;
  sizes.gate = options.flag("use_gate");
  return sizes;
}

DeltaRuleSizes deltaproduct_sizes(const MixerContext& context, const Options& options) {
  DeltaRuleSizes sizes;
  read_common(options, sizes);
  read_heads(context, options, sizes);
  sizes.householders = options.integer("num_householder");
  sizes.decay = options.flag("use_forget_gate");
  sizes.gate = options.flag("use_output_gate");
  return sizes;
}

MixerEntry deltanet_entry() {
  return entry<deltanet_sizes>(
      "deltanet", "linear attention that corrects what its state recalls for a key instead of adding to it",
      "Schlag et al. 2021, Linear Transformers Are Secretly Fast Weight Programmers; Yang et al. 2024, Parallelizing "
      "Linear Transformers with the Delta Rule over Sequence Length",
      schema(
          {
              integer_field("num_heads", 2, 1, 4096, "heads"),
              real_field("expand_k", 1.0, 1e-6, 64.0, "key channels as a multiple of the width"),
              real_field("expand_v", 1.0, 1e-6, 64.0, "value channels as a multiple of the width"),
              flag_field("use_beta", true, "a learned strength of the correction; without it, 1"),
              flag_field("use_gate", false, "a gate on the normalised output"),
              choice_field("qk_activation", "silu", {"silu", "relu", "elu", "identity"},
                           "on queries and keys; elu is elu + 1"),
              choice_field("qk_norm", "l2", {"l2", "sum"}, "how queries and keys are normalised in each head"),
          },
          false),
      check_deltanet);
}

MixerEntry gated_deltanet_entry() {
  return entry<gated_deltanet_sizes>(
      "gated_deltanet", "the delta rule with a decay of the whole state that depends on the token",
      "Yang, Kautz & Hatamizadeh 2024, Gated Delta Networks: Improving Mamba2 with Delta Rule",
      schema(
          {
              integer_field("num_heads", 2, 1, 4096, "query and key heads"),
              integer_field("head_dim", 0, 0, 65536, "key channels of a head; 0: width / num_heads"),
              integer_field("num_v_heads", 0, 0, 4096, "value heads, a multiple of num_heads; 0: num_heads"),
              real_field("expand_v", 2.0, 1e-6, 64.0, "value channels of a head as a multiple of its key channels"),
              flag_field("use_gate", true, "a gate on the normalised output"),
          },
          false),
      check_value_heads);
}

MixerEntry deltaproduct_entry() {
  return entry<deltaproduct_sizes>(
      "deltaproduct", "several delta-rule corrections per token: a product of Householder reflections",
      "Siems et al. 2025, DeltaProduct: Improving State-Tracking in Linear RNNs via Householder Products",
      schema(
          {
              integer_field("num_heads", 2, 1, 4096, "heads"),
              integer_field("head_dim", 0, 0, 65536, "key channels of a head; 0: width / num_heads"),
              real_field("expand_v", 2.0, 1e-6, 64.0, "value channels of a head as a multiple of its key channels"),
              integer_field("num_householder", 2, 1, 64, "corrections per token"),
              flag_field("use_forget_gate", true, "decay of the state, depending on the token"),
              flag_field("use_output_gate", true, "a gate on the normalised output"),
          },
          true),
      check_heads);
}

}  // namespace mneme::catalog
