#include "catalog/base_conv.h"

#include <algorithm>

#include "catalog/entries.h"

namespace mneme::catalog {
namespace {

constexpr std::int64_t kFilterInputs = 3, kFilterHidden = 16;

std::int64_t parameters(const MixerContext& context, const Options& options) {
  const std::int64_t D = context.width, taps = base_conv_kernel_size(context, options);
  if (taps > 0) return D * D + D + D * (taps + 1);
  if (options.flag("implicit_long_conv"))
    return D * D + D + kFilterHidden * (kFilterInputs + 1) + D * (kFilterHidden + 1);
  return D * D + D + D * context.length;
}

std::int64_t state(const MixerContext& context, const Options& options) {
  const std::int64_t taps = base_conv_kernel_size(context, options);
  return context.width * (taps > 0 ? taps - 1 : context.length);
}

double flops(const MixerContext& context, const Options& options) {
  const auto D = static_cast<double>(context.width), L = static_cast<double>(context.length);
  const std::int64_t taps = base_conv_kernel_size(context, options);
  // Direct sums: only taps that meet a token are useful work.
  const double conv = taps > 0 ? 2.0 * D * L * static_cast<double>(taps) : D * L * (L + 1.0);
  return 2.0 * L * D * D + conv + 3.0 * L * D;
}

bool knows_order(const Options& options) {
  const auto sizes = options.integers("kernel_size");
  return std::any_of(sizes.begin(), sizes.end(), [](std::int64_t taps) { return taps != 1; });
}

void validate(const MixerContext&, const Options& options) {
  for (const std::int64_t taps : options.integers("kernel_size"))
    if (taps == 0) options.reject("kernel_size", "positive numbers, or -1 for a convolution as long as the sequence");
}

}  // namespace

std::int64_t base_conv_kernel_size(const MixerContext& context, const Options& options) {
  const auto sizes = options.integers("kernel_size");
  return sizes[static_cast<std::size_t>(context.layer) % sizes.size()];
}

MixerEntry base_conv_entry() {
  return {
      .name = "base_conv",
      .family = "convolution",
      .summary = "gated convolution: conv(x) * projection(x) + x, with a short or a long filter",
      .citation = "Arora et al. 2023, Zoology: Measuring and Improving Recall in Efficient Language Models",
      .options =
          {
              integers_field("kernel_size", 3, -1, 4096, "taps, by layer if a list; -1: as long as the sequence"),
              flag_field("implicit_long_conv", true,
                         "a long filter is a small network of the position; false: free taps"),
              flag_field("use_act", false, "SiLU on both factors"),
          },
      .parameters = parameters,
      .state = state,
      .flops = flops,
      .knows_order = knows_order,
      .validate = validate,
  };
}

}  // namespace mneme::catalog
