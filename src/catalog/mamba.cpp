#include "catalog/mamba.h"

#include "catalog/entries.h"

namespace mneme::catalog {
namespace {

std::int64_t parameters(const MixerContext& context, const Options& options) {
  const std::int64_t D = context.width, E = options.integer("expand") * D, N = options.integer("d_state");
  const std::int64_t R = mamba_dt_rank(context, options), streams = options.flag("gate") ? 2 : 1;
  const std::int64_t conv =
      options.flag("conv") ? E * (options.integer("d_conv") + (options.flag("conv_bias") ? 1 : 0)) : 0;
  const std::int64_t biases = options.flag("bias") ? streams * E + D : 0;
  return (streams + 1) * E * D + conv + E * (R + 2 * N) + E * (R + 1) + E * N + E + biases;
}

std::int64_t state(const MixerContext& context, const Options& options) {
  const std::int64_t E = options.integer("expand") * context.width;
  return E * (options.integer("d_state") + (options.flag("conv") ? options.integer("d_conv") - 1 : 0));
}

double flops(const MixerContext& context, const Options& options) {
  const auto D = static_cast<double>(context.width), L = static_cast<double>(context.length);
  const auto E = static_cast<double>(options.integer("expand")) * D,
             N = static_cast<double>(options.integer("d_state"));
  const auto R = static_cast<double>(mamba_dt_rank(context, options));
  const double streams = options.flag("gate") ? 2.0 : 1.0;
  const double conv = options.flag("conv") ? 2.0 * E * static_cast<double>(options.integer("d_conv")) : 0.0;
  // The scan: decay (product and exponential), state (three), output (two) for each channel and state.
  return L * (2.0 * ((streams + 1.0) * E * D + E * (R + 2.0 * N) + E * R) + conv + 7.0 * E * N);
}

// The gate and the output projection.
double output_flops(const MixerContext& context, const Options& options) {
  const std::int64_t D = context.width, E = options.integer("expand") * D;
  return (options.flag("gate") ? 4.0 : 2.0) * static_cast<double>(E * D);
}

void validate(const MixerContext&, const Options& options) {
  if (options.real("dt_min") > options.real("dt_max")) options.reject("dt_min", "at most dt_max");
}

void validate_s6(const MixerContext& context, const Options& options) {
  validate(context, options);
  for (const char* name : {"conv", "gate"})
    if (options.flag(name)) options.reject(name, "false: s6 is mamba without convolution and gate");
}

Schema options_schema(bool whole) {
  return {
      integer_field("d_state", 16, 1, 4096, "states of each inner channel (N)"),
      integer_field("d_conv", 4, 1, 1024, "taps of the convolution"),
      integer_field("expand", 2, 1, 64, "inner width as a multiple of the width"),
      or_word(
          integer_field("dt_rank", "auto", 1, 65536, "rank of the step-size projection; auto: width / 16, rounded up"),
          {"auto"}),
      flag_field("conv_bias", true, "bias of the convolution"),
      flag_field("bias", false, "biases of the input and output projections"),
      flag_field("conv", whole, "short convolution before the scan (its SiLU stays without it)"),
      flag_field("gate", whole, "multiply the scan's output with silu(z)"),
      real_field("dt_min", 1e-3, 1e-12, 1e3, "smallest initial step size"),
      real_field("dt_max", 0.1, 1e-12, 1e3, "largest initial step size"),
      real_field("dt_init_floor", 1e-4, 1e-12, 1e3, "initial step sizes are at least this"),
      flag_field("keep_dt_init", true,
                 "initialise dt_proj for step sizes from dt_min to dt_max under every scheme; "
                 "false: the scheme redraws it, as Zoology's TransformerBlock does"),
  };
}

MixerEntry entry(bool whole) {
  return {
      .name = whole ? "mamba" : "s6",
      .family = "state space",
      .summary = whole ? "selective state space with short convolution and gate"
                       : "selective state space alone: mamba without convolution and gate",
      .citation = "Gu and Dao 2023, Mamba: Linear-Time Sequence Modeling with Selective State Spaces",
      .options = options_schema(whole),
      .parameters = parameters,
      .state = state,
      .flops = flops,
      .validate = whole ? validate : validate_s6,
      .output_flops = output_flops,
  };
}

}  // namespace

MixerEntry mamba_entry() { return entry(true); }
MixerEntry s6_entry() { return entry(false); }

std::int64_t mamba_dt_rank(const MixerContext& context, const Options& options) {
  return options.is_word("dt_rank") ? (context.width + 15) / 16 : options.integer("dt_rank");
}

}  // namespace mneme::catalog
