#include "catalog/entries.h"

namespace mneme::catalog {
namespace {

std::int64_t parameters(const MixerContext& context, const Options& options) {
  const std::int64_t D = context.width, F = options.integer("filter_order"), E = options.integer("emb_dim");
  const std::int64_t inner = options.integer("num_inner_mlps"), taps = options.integer("short_filter_order");
  const std::int64_t filter = E * context.length + F * E + F + inner * (F * F + F) + F + F * D + D;
  return 4 * D * D + 4 * D + 3 * D * (taps + 1) + filter;
}

std::int64_t state(const MixerContext& context, const Options& options) {
  return context.width * context.length + 3 * context.width * (options.integer("short_filter_order") - 1);
}

double flops(const MixerContext& context, const Options& options) {
  const auto D = static_cast<double>(context.width), L = static_cast<double>(context.length);
  const auto F = static_cast<double>(options.integer("filter_order")),
             E = static_cast<double>(options.integer("emb_dim"));
  const double filter = F * E + static_cast<double>(options.integer("num_inner_mlps")) * F * F + F * D;
  const double taps = 3.0 * static_cast<double>(options.integer("short_filter_order"));
  return L * (8.0 * D * D + 2.0 * D * taps + 2.0 * filter + 3.0 * D) + D * L * (L + 1.0);
}

// The output projection.
double output_flops(const MixerContext& context, const Options&) {
  return 2.0 * static_cast<double>(context.width * context.width);
}

void validate(const MixerContext&, const Options& options) {
  if (options.integer("emb_dim") % 2 == 0) options.reject("emb_dim", "an odd number: time, and pairs of waves");
}

}  // namespace

MixerEntry hyena_entry() {
  return {
      .name = "hyena",
      .family = "convolution",
      .summary = "two gates around a long convolution whose filter a small network computes from the position",
      .citation = "Poli et al. 2023, Hyena Hierarchy: Towards Larger Convolutional Language Models",
      .options =
          {
              integer_field("filter_order", 64, 1, 65536, "hidden width of the filter's network"),
              integer_field("num_heads", 1, 1, 1, "1: the reference does not define more"),
              integer_field("num_blocks", 1, 1, 1, "1"),
              integer_field("short_filter_order", 3, 1, 1024, "taps of the short convolution"),
              integer_field("emb_dim", 3, 3, 1025, "position features of the filter, an odd number"),
              real_field("w", 1.0, -1e6, 1e6, "initial frequency of the sine activations"),
              integer_field("num_inner_mlps", 2, 0, 64, "hidden layers of the filter's network after the first"),
              real_field("fast_decay_pct", 0.3, 1e-6, 1e6,
                         "position at which the fastest channel's window has decayed to target"),
              real_field("slow_decay_pct", 1.5, 1e-6, 1e6, "the same for the slowest channel"),
              real_field("target", 0.01, 1e-30, 1e6, "value that the windows decay to"),
              real_field("shift", 0.0, -1e6, 1e6, "added to the windows"),
              flag_field("modulate", true, "multiply the filter by decaying windows"),
              flag_field("normalized", false, "divide the filter by its absolute sum over channels"),
              flag_field("bias", true, "add each channel's input, scaled, to its convolution"),
              real_field("dropout", 0.0, 0.0, 0.999, "dropout on the gated input of the convolution, in training"),
          },
      .parameters = parameters,
      .state = state,
      .flops = flops,
      .validate = validate,
      .output_flops = output_flops,
  };
}

}  // namespace mneme::catalog
