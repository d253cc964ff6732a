#include "catalog/entries.h"

namespace mneme::catalog {
namespace {

std::int64_t no_state(const MixerContext&, const Options&) { return 0; }
bool pointwise_order(const Options&) { return false; }

std::int64_t hidden(const MixerContext& context, const Options& options) {
  return options.integer("hidden_mult") * context.width;
}

// `matrices` of D x hidden, a bias of `hidden` for each but the last.
std::int64_t count(const MixerContext& context, const Options& options, std::int64_t matrices) {
  return matrices * hidden(context, options) * context.width + (matrices - 1) * hidden(context, options) +
         context.width;
}

double work(const MixerContext& context, const Options& options, double matrices) {
  return 2.0 * matrices * static_cast<double>(context.length) * static_cast<double>(context.width) *
         static_cast<double>(hidden(context, options));
}

Schema options_schema() {
  return {
      integer_field("hidden_mult", 4, 1, 64, "hidden width as a multiple of the width"),
      choice_field("activation", "gelu", {"gelu", "silu", "relu"}, "gelu is the exact (erf) form"),
  };
}

}  // namespace

MixerEntry mlp_entry() {
  return {
      .name = "mlp",
      .family = "state mixer",
      .summary = "two-layer perceptron on each position: fc2(activation(fc1 x))",
      .citation = "Vaswani et al. 2017",
      .options = options_schema(),
      .parameters = [](const MixerContext& c, const Options& o) { return count(c, o, 2); },
      .state = no_state,
      .flops = [](const MixerContext& c, const Options& o) { return work(c, o, 2); },
      .knows_order = pointwise_order,
  };
}

MixerEntry glu_entry() {
  return {
      .name = "glu",
      .family = "state mixer",
      .summary = "gated linear unit on each position: fc3(fc1 x * activation(fc2 x))",
      .citation = "Shazeer 2020, GLU Variants Improve Transformer",
      .options = options_schema(),
      .parameters = [](const MixerContext& c, const Options& o) { return count(c, o, 3); },
      .state = no_state,
      .flops = [](const MixerContext& c, const Options& o) { return work(c, o, 3); },
      .knows_order = pointwise_order,
  };
}

MixerEntry identity_entry() {
  return {
      .name = "identity",
      .family = "state mixer",
      .summary = "returns its (normalised) input, so the block adds LayerNorm(residual): what Zoology's figures use",
      .citation = "Arora et al. 2023, Zoology",
      .options = {},
      .parameters = [](const MixerContext&, const Options&) -> std::int64_t { return 0; },
      .state = no_state,
      .flops = [](const MixerContext&, const Options&) { return 0.0; },
      .knows_order = pointwise_order,
  };
}

}  // namespace mneme::catalog
