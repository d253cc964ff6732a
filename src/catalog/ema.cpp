#include "catalog/entries.h"

namespace mneme::catalog {
namespace {

std::int64_t parameters(const MixerContext& context, const Options&) { return context.width * (context.width + 1); }

std::int64_t state(const MixerContext& context, const Options&) { return context.width; }

// The average by its recurrence, and the projection.
double flops(const MixerContext& context, const Options&) {
  const auto L = static_cast<double>(context.length), D = static_cast<double>(context.width);
  return L * D * (3 + 2 * D);
}

}  // namespace

MixerEntry ema_entry() {
  return {
      .name = "ema",
      .family = "state space",
      .summary = "a moving average per channel with a learned decay: the smallest mixer, to copy from",
      .citation = "Roberts 1959, Control Chart Tests Based on Geometric Moving Averages",
      .options = {real_field("decay", 0.9, 1e-6, 1 - 1e-6, "the decay that channels start around, between 0 and 1")},
      .parameters = parameters,
      .state = state,
      .flops = flops,
  };
}

}  // namespace mneme::catalog
