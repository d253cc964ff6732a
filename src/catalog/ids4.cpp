#include "catalog/entries.h"

namespace mneme::catalog {

MixerEntry ids4_entry() {
  return {
      .name = "ids4",
      .family = "state space",
      .summary = "the state is the product of one dense matrix per token, a function of that token",
      .citation = "Merrill et al. 2024, The Illusion of State in State-Space Models",
      .options = {integer_field("d_state", 8, 1, 4096, "order N of the matrices; the paper's runs use 128")},
      .parameters =
          [](const MixerContext& context, const Options& options) {
            const std::int64_t D = context.width, N = options.integer("d_state");
            return D * N * N + N + 1 + N * D + D + D * D + D;
          },
      .state = [](const MixerContext&,
                  const Options& options) { return options.integer("d_state") * options.integer("d_state"); },
      .flops =
          [](const MixerContext& context, const Options& options) {
            const auto D = static_cast<double>(context.width), L = static_cast<double>(context.length);
            const auto N = static_cast<double>(options.integer("d_state"));
            return 2.0 * L * (D * N * N + N * N * N + N * N + N * D + D * D);
          },
      .knows_order = [](const Options& options) { return options.integer("d_state") > 1; },
  };
}

}  // namespace mneme::catalog
