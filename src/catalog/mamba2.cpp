#include "catalog/mamba2.h"

#include <algorithm>

#include "catalog/entries.h"

namespace mneme::catalog {
namespace {

std::int64_t parameters(const MixerContext& context, const Options& options) {
  const Mamba2Widths w = mamba2_widths(context, options);
  const std::int64_t D = context.width, rows = w.inner + w.convolved() + w.heads;
  const std::int64_t conv = w.convolved() * (options.integer("d_conv") + (options.flag("conv_bias") ? 1 : 0));
  const std::int64_t skip = options.flag("D_has_hdim") ? w.inner : w.heads;
  return D * rows + conv + 2 * w.heads + skip + w.inner + w.inner * D + (options.flag("bias") ? rows + D : 0);
}

std::int64_t state(const MixerContext& context, const Options& options) {
  const Mamba2Widths w = mamba2_widths(context, options);
  return w.inner * w.state + w.convolved() * (options.integer("d_conv") - 1);
}

double flops(const MixerContext& context, const Options& options) {
  const Mamba2Widths w = mamba2_widths(context, options);
  const auto D = static_cast<double>(context.width), E = static_cast<double>(w.inner);
  const double projections = 2.0 * D * (2.0 * E + static_cast<double>(w.convolved() + w.heads));
  const double conv = 2.0 * static_cast<double>(w.convolved() * options.integer("d_conv"));
  // Decay, update and read-out of the state.
  return static_cast<double>(context.length) * (projections + conv + 5.0 * E * static_cast<double>(w.state));
}

// The gate, reading the state, and the output projection.
double output_flops(const MixerContext& context, const Options& options) {
  const Mamba2Widths w = mamba2_widths(context, options);
  return static_cast<double>(w.inner * (4 * context.width + 2 * w.state));
}

void validate(const MixerContext& context, const Options& options) {
  if (options.real("dt_min") > options.real("dt_max")) options.reject("dt_min", "at most dt_max");
  const Mamba2Widths w = mamba2_widths(context, options);
  if (w.inner % w.head != 0) options.reject("headdim", "a divisor of the inner width " + std::to_string(w.inner));
  if (w.heads % w.groups != 0) options.reject("ngroups", "a divisor of the " + std::to_string(w.heads) + " heads");
}

}  // namespace

Mamba2Widths mamba2_widths(const MixerContext& context, const Options& options) {
  const std::int64_t inner = options.integer("expand") * context.width;
  const std::int64_t head = options.is_word("headdim") ? std::min<std::int64_t>(64, inner) : options.integer("headdim");
  return {inner, head, inner / head, options.integer("ngroups"), options.integer("d_state")};
}

MixerEntry mamba2_entry() {
  return {
      .name = "mamba2",
      .family = "state space",
      .summary = "state space with one decay per head and token, short convolution, gated norm",
      .citation =
          "Dao and Gu 2024, Transformers are SSMs: Generalized Models and Efficient Algorithms Through "
          "Structured State Space Duality",
      .options =
          {
              integer_field("d_state", 128, 1, 4096, "states of each inner channel (N)"),
              integer_field("d_conv", 4, 1, 1024, "taps of the convolution"),
              integer_field("expand", 2, 1, 64, "inner width as a multiple of the width"),
              or_word(integer_field("headdim", "auto", 1, 65536,
                                    "channels of a head; auto: 64, or the inner width if that is less"),
                      {"auto"}),
              integer_field("ngroups", 1, 1, 4096, "sets of B and C, each shared by equally many heads"),
              choice_field("norm_group_size", "d_inner/ngroups", {"d_inner/ngroups", "d_inner"},
                           "channels that are normed together"),
              flag_field("D_has_hdim", false, "a skip weight for each channel instead of each head"),
              flag_field("norm_before_gate", false, "norm(y) * silu(z) instead of norm(y * silu(z))"),
              flag_field("bias", false, "biases of the input and output projections"),
              flag_field("conv_bias", true, "bias of the convolution"),
              real_field("dt_min", 1e-3, 1e-12, 1e3, "smallest initial step size"),
              real_field("dt_max", 0.1, 1e-12, 1e3, "largest initial step size"),
              real_field("dt_init_floor", 1e-4, 1e-12, 1e3, "initial step sizes are at least this"),
              real_field("norm_eps", 1e-5, 0.0, 1.0, "epsilon of the norm"),
          },
      .parameters = parameters,
      .state = state,
      .flops = flops,
      .validate = validate,
      .output_flops = output_flops,
  };
}

}  // namespace mneme::catalog
