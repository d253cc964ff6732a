#include "catalog/entries.h"

namespace mneme::catalog {
namespace {

std::int64_t parameters(const MixerContext& context, const Options& options) {
  const std::int64_t D = context.width;
  return 2 * options.integer("num_heads") * options.integer("feature_dim") * D + 2 * D * D;
}

std::int64_t state(const MixerContext& context, const Options& options) {
  const std::int64_t H = options.integer("num_heads"), f = options.integer("feature_dim");
  return H * (context.width / H + 1) * (1 + f + f * (f + 1) / 2);
}

double flops(const MixerContext& context, const Options& options) {
  // Update of the state and read-out, two operations each.
  return static_cast<double>(context.length) *
         (2.0 * static_cast<double>(parameters(context, options)) + 4.0 * static_cast<double>(state(context, options)));
}

// The output projection.
double output_flops(const MixerContext& context, const Options&) {
  return 2.0 * static_cast<double>(context.width * context.width);
}

bool knows_order(const Options&) { return false; }

void validate(const MixerContext& context, const Options& options) {
  const std::int64_t heads = options.integer("num_heads"), kv = options.integer("num_key_value_heads");
  if (context.width % heads != 0)
    options.reject("num_heads", "a divisor of the width " + std::to_string(context.width));
  if (kv != 0 && kv != heads) options.reject("num_key_value_heads", "0 or num_heads");
  if (options.flag("apply_rotary"))
    options.reject("apply_rotary", "false: rotary positions are not part of this mixer");
}

}  // namespace

MixerEntry based_entry() {
  return {
      .name = "based",
      .family = "linear attention",
      .summary = "linear attention whose weights are the second-order Taylor series of exp(q.k)",
      .citation = "Arora et al. 2024, Simple linear attention language models balance the recall-throughput tradeoff",
      .options =
          {
              integer_field("feature_dim", 16, 1, 256, "channels of queries and keys in each head"),
              integer_field("num_heads", 1, 1, 4096, "heads; must divide the width"),
              integer_field("num_key_value_heads", 0, 0, 4096, "num_heads, or 0 for the same"),
              choice_field("feature_name", "taylor_exp", {"taylor_exp"}, "the feature map"),
              choice_field("train_view", "linear", {"linear", "quadratic"},
                           "how the reference computes the same numbers; no effect here"),
              flag_field("apply_rotary", false,
                         "must be false: the reference has this switch for rotary positions but never sets it"),
              real_field("eps", 1e-12, 0.0, 1.0, "added to the sum of the weights"),
          },
      .parameters = parameters,
      .state = state,
      .flops = flops,
      .knows_order = knows_order,
      .validate = validate,
      .output_flops = output_flops,
  };
}

}  // namespace mneme::catalog
