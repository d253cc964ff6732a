#include "catalog/entries.h"

#include "catalog/head_widths.h"

namespace mneme::catalog {
namespace {

std::int64_t parameters(const MixerContext& context, const Options& options) {
  const auto [heads, key, value] = head_widths(context, options);
  const std::int64_t dk = key / heads, dv = value / heads;
  const std::int64_t norm = options.text("output_norm") == "rmsnorm" && options.flag("elementwise_affine") ? dv : 0;
  const std::int64_t maps = options.text("feature_map") == "elementwise_product" ? 4 * (dk * dk + dk) : 0;
  return 2 * context.width * (key + value) + norm + maps;
}

std::int64_t state(const MixerContext& context, const Options& options) {
  const HeadWidths widths = head_widths(context, options);
  return widths.key * (widths.head_value() + (options.flag("do_feature_map_norm") ? 1 : 0));
}

double flops(const MixerContext& context, const Options& options) {
  const HeadWidths widths = head_widths(context, options);
  const auto L = static_cast<double>(context.length), D = static_cast<double>(context.width);
  const double projections = 4.0 * D * static_cast<double>(widths.key + widths.value);
  // Update of the state and read-out, two operations each.
  return L * (projections + 4.0 * static_cast<double>(state(context, options)));
}

// Reading the state, and the output projection.
double output_flops(const MixerContext& context, const Options& options) {
  return 2.0 * static_cast<double>(context.width * head_widths(context, options).value + state(context, options));
}

bool knows_order(const Options&) { return false; }

}  // namespace

MixerEntry linear_attention_entry() {
  return {
      .name = "linear_attention",
      .family = "linear attention",
      .summary = "attention without softmax: queries and keys through a feature map, state S += k v^T",
      .citation =
          "Katharopoulos et al. 2020, Transformers are RNNs: Fast Autoregressive Transformers with Linear Attention",
      .options =
          {
              integer_field("num_heads", 4, 1, 4096, "heads; must divide the key and value widths"),
              real_field("expand_k", 1.0, 0.0, 64.0, "width of all keys as a multiple of the width"),
              real_field("expand_v", 1.0, 0.0, 64.0, "width of all values as a multiple of the width"),
              choice_field("feature_map", "elu", {"elu", "relu", "identity", "elementwise_product"},
                           "elu is elu + 1; elementwise_product multiplies two learned linear maps"),
              choice_field("output_norm", "rmsnorm", {"rmsnorm", "identity"}, "normalise each head's output"),
              flag_field("norm_q", false, "divide queries by their sum"),
              flag_field("norm_k", false, "divide keys by their sum"),
              flag_field("do_feature_map_norm", false, "divide outputs by the sum of the weights"),
              real_field("norm_eps", 1e-5, 0.0, 1.0, "epsilon of the output norm"),
              flag_field("elementwise_affine", true, "learned scale of the output norm"),
          },
      .parameters = parameters,
      .state = state,
      .flops = flops,
      .knows_order = knows_order,
      .validate = validate_head_widths,
      .output_flops = output_flops,
  };
}

}  // namespace mneme::catalog
