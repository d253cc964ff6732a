#include "catalog/entries.h"

#include <algorithm>

namespace mneme::catalog {
namespace {

Field state_field() {
  return integer_field("d_state", 64, 2, 1 << 20, "real states N per channel, stored as N/2 complex ones");
}
Field shortest_step_field() { return real_field("dt_min", 0.001, 1e-12, 1e6, "smallest time step at the start"); }
Field longest_step_field() { return real_field("dt_max", 0.1, 1e-12, 1e6, "largest time step at the start"); }

void even_state(const MixerContext&, const Options& options) {
  if (options.integer("d_state") % 2 != 0)
    options.reject("d_state", "an even number: states are stored as conjugate pairs");
}

void ordered_steps(const Options& options) {
  if (options.real("dt_min") > options.real("dt_max")) options.reject("dt_min", "at most dt_max");
}

std::int64_t states_of_channels(const MixerContext& context, const Options& options) {
  return context.width * options.integer("d_state");
}

// A causal convolution with a kernel as long as the sequence, and the output map to 2D channels. Making the
// kernel is not counted: a batch shares it.
double convolution_and_output(const MixerContext& context, const Options&) {
  const auto D = static_cast<double>(context.width), L = static_cast<double>(context.length);
  return D * L * (L + 1.0) + 4.0 * L * D * D;
}

// The output map; H3's queries and output projection are as much.
double output_flops(const MixerContext& context, const Options&) {
  return 4.0 * static_cast<double>(context.width * context.width);
}

}  // namespace

MixerEntry s4d_entry() {
  return {
      .name = "s4d",
      .family = "state space",
      .summary = "diagonal state-space model, one per channel, as a long convolution; GELU and a gated output map",
      .citation = "Gu et al. 2022, On the Parameterization and Initialization of Diagonal State Space Models",
      .options =
          {
              state_field(),
              shortest_step_field(),
              longest_step_field(),
              real_field("dropout", 0.0, 0.0, 0.999, "dropout of whole channels, in training"),
              choice_field("disc", "zoh", {"zoh"}, "discretisation: zero-order hold"),
          },
      .parameters =
          [](const MixerContext& context, const Options& options) {
            const std::int64_t D = context.width, N = options.integer("d_state");
            return 2 * D * D + 4 * D + 2 * D * N;
          },
      .state = states_of_channels,
      .flops = convolution_and_output,
      .validate =
          [](const MixerContext& context, const Options& options) {
            even_state(context, options);
            ordered_steps(options);
          },
      .output_flops = output_flops,
  };
}

MixerEntry s4_entry() {
  return {
      .name = "s4",
      .family = "state space",
      .summary = "diagonal plus low-rank state-space model from HiPPO, one per channel, as a long convolution",
      .citation = "Gu et al. 2022, Efficiently Modeling Long Sequences with Structured State Spaces",
      .options =
          {
              state_field(),
              integer_field("rank", 1, 1, 64, "rank of the correction; rows beyond the first start at zero"),
              integer_field("n_ssm", 0, 0, 1 << 20,
                            "copies of the state matrix, shared by channels; 0: one per channel"),
              integer_field("channels", 1, 1, 1, "heads; only 1"),
              integer_field("l_kernel", 0, 0, 1 << 24,
                            "length for which the stored C is prepared; 0: the training length"),
              flag_field("truncate", true,
                         "cut the kernel to the training length, as the original does with its l_max"),
              shortest_step_field(),
              longest_step_field(),
              real_field("dropout", 0.0, 0.0, 0.999, "dropout before and after the GELU, in training"),
              choice_field("activation", "gelu", {"gelu"}, "activation, in its erf form"),
              choice_field("final_act", "glu", {"glu"}, "activation of the output map"),
              choice_field("init", "legs", {"legs"}, "HiPPO-LegS"),
              choice_field("dt_transform", "exp", {"exp"}, "dt = exp(inv_dt)"),
              choice_field("real_transform", "exp", {"exp"}, "real part of A: -exp(A_real)"),
              choice_field("imag_transform", "none", {"none"}, "imaginary part of A: -A_imag"),
              choice_field("disc", "bilinear", {"bilinear"}, "discretisation"),
          },
      .parameters =
          [](const MixerContext& context, const Options& options) {
            const std::int64_t H = context.width, N = options.integer("d_state"), given = options.integer("n_ssm");
            const std::int64_t S = given == 0 ? H : given;
            return 2 * H * H + 4 * H + H * N + S * N * (2 + options.integer("rank"));
          },
      .state = states_of_channels,
      .flops = convolution_and_output,
      .validate =
          [](const MixerContext& context, const Options& options) {
            even_state(context, options);
            ordered_steps(options);
            const std::int64_t copies = options.integer("n_ssm");
            if (copies != 0 && context.width % copies != 0)
              options.reject("n_ssm", "a divisor of the width " + std::to_string(context.width));
          },
  };
}

MixerEntry h3_entry() {
  return {
      .name = "h3",
      .family = "state space",
      .summary = "a shift and a diagonal state-space model between multiplications: q * SSM(shift(k) * v)",
      .citation = "Fu et al. 2023, Hungry Hungry Hippos: Towards Language Modeling with State Space Models",
      .options =
          {
              integer_field("d_state", 64, 2, 1 << 20, "states N of both models; an even number"),
              integer_field("head_dim", 1, 1, 4096, "channels e of a head, whose e x e products are convolved"),
              flag_field("truncate", true, "cut kernels to the training length, as the original does with its l_max"),
              shortest_step_field(),
              longest_step_field(),
              choice_field("disc", "bilinear", {"bilinear"}, "discretisation of the diagonal model"),
              choice_field("real_type", "exp", {"exp"}, "the real part of A is -exp(inv_A_real)"),
              choice_field("measure", "diag-lin", {"diag-lin"}, "start: A = -1/2 + i pi k"),
          },
      .parameters =
          [](const MixerContext& context, const Options& options) {
            const std::int64_t D = context.width, N = options.integer("d_state"), H = D / options.integer("head_dim");
            return 4 * D * D + 4 * D + 2 * D * N + D + 3 * H * N + 2 * H;
          },
      .state =
          [](const MixerContext& context, const Options& options) {
            return context.width * options.integer("d_state") * (1 + options.integer("head_dim"));
          },
      .flops =
          [](const MixerContext& context, const Options& options) {
            const auto D = static_cast<double>(context.width), L = static_cast<double>(context.length);
            const auto e = static_cast<double>(options.integer("head_dim"));
            const double taps = std::min(L, static_cast<double>(options.integer("d_state")));
            const double shift = D * taps * (2.0 * L - taps + 1.0), diagonal = D * e * L * (L + 1.0);
            return 8.0 * L * D * D + shift + diagonal + 3.0 * L * D * e;
          },
      .validate =
          [](const MixerContext& context, const Options& options) {
            even_state(context, options);
            ordered_steps(options);
            if (context.width % options.integer("head_dim") != 0)
              options.reject("head_dim", "a divisor of the width " + std::to_string(context.width));
          },
      .output_flops = output_flops,
  };
}

}  // namespace mneme::catalog
