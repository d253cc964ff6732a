#include "catalog/rwkv.h"

#include <algorithm>
#include <cmath>

#include "catalog/entries.h"

namespace mneme::catalog {
namespace {

double square(const MixerContext& context) {
  return static_cast<double>(context.width) * static_cast<double>(context.width);
}
double length(const MixerContext& context) { return static_cast<double>(context.length); }

void whole_heads(const MixerContext& context, const Options& options, std::string_view option) {
  if (context.width % rwkv_head_size(context, options, option) != 0)
    options.reject(option, "a divisor of the width " + std::to_string(context.width));
}

// 32 times a rounded count, at least 32. Halves go to the even number, as in Python: at width 1024 that decides.
std::int64_t rank(double size) { return std::max<std::int64_t>(32, 32 * std::lrint(size / 32.0)); }

}  // namespace

std::int64_t rwkv_head_size(const MixerContext& context, const Options& options, std::string_view option) {
  const std::int64_t size = options.integer(option);
  return size != 0 ? size : std::min<std::int64_t>(64, context.width);
}

Rwkv7Ranks rwkv7_ranks(const MixerContext& context, const Options& options) {
  const double root = std::sqrt(static_cast<double>(context.width));
  const auto N = static_cast<double>(rwkv_head_size(context, options, "head_dim"));
  const auto given = [&](const char* option, double size) {
    return options.integer(option) != 0 ? options.integer(option) : rank(size);
  };
  return {given("decay_low_rank_dim", 2.5 * root * N / 64.0), given("gate_low_rank_dim", 5.0 * root),
          given("a_low_rank_dim", 2.5 * root * N / 64.0),
          context.earlier > 0 && options.flag("value_residual") ? given("v_low_rank_dim", 1.7 * root * N / 64.0) : 0};
}

MixerEntry rwkv4_entry() {
  return {
      .name = "rwkv4",
      .family = "rwkv",
      .summary = "RWKV-4 time mix: a gated, exponentially decaying average of past values in each channel",
      .citation = "Peng et al. 2023, RWKV: Reinventing RNNs for the Transformer Era",
      .options = {},
      .parameters = [](const MixerContext& c, const Options&) { return 4 * c.width * c.width + 5 * c.width; },
      .state = [](const MixerContext& c, const Options&) { return 4 * c.width; },
      .flops = [](const MixerContext& c,
                  const Options&) { return length(c) * (8.0 * square(c) + 20.0 * static_cast<double>(c.width)); },
      // The receptance and the output projection.
      .output_flops = [](const MixerContext& c, const Options&) { return 4.0 * square(c); },
  };
}

MixerEntry rwkv4_channel_mix_entry() {
  return {
      .name = "rwkv4_channel_mix",
      .family = "state mixer",
      .summary = "RWKV-4 channel mix: a gated squared-ReLU perceptron that also sees the previous token",
      .citation = "Peng et al. 2023, RWKV: Reinventing RNNs for the Transformer Era",
      .options = {integer_field("hidden_mult", 4, 1, 64, "hidden width as a multiple of the width")},
      .parameters =
          [](const MixerContext& c, const Options& o) {
            return (2 * o.integer("hidden_mult") + 1) * c.width * c.width + 2 * c.width;
          },
      .state = [](const MixerContext& c, const Options&) { return c.width; },
      .flops =
          [](const MixerContext& c, const Options& o) {
            return 2.0 * length(c) * square(c) * static_cast<double>(2 * o.integer("hidden_mult") + 1);
          },
  };
}

MixerEntry rwkv5_entry() {
  return {
      .name = "rwkv5",
      .family = "rwkv",
      .summary = "RWKV-5 time mix: a matrix state per head that decays by a learned constant per key channel",
      .citation = "Peng et al. 2024, Eagle and Finch: RWKV with Matrix-Valued States and Dynamic Recurrence",
      .options =
          {
              integer_field("head_size", 0, 0, 4096, "channels of a head; 0: 64, or the width if that is less"),
              real_field("head_size_divisor", 8.0, 1e-6, 1e6, "divides the read-out before its normalisation"),
          },
      .parameters = [](const MixerContext& c, const Options&) { return 5 * c.width * c.width + 8 * c.width; },
      .state = [](const MixerContext& c,
                  const Options& o) { return c.width * rwkv_head_size(c, o, "head_size") + c.width; },
      .flops =
          [](const MixerContext& c, const Options& o) {
            const auto N = static_cast<double>(rwkv_head_size(c, o, "head_size"));
            return length(c) * (10.0 * square(c) + 5.0 * static_cast<double>(c.width) * N);
          },
      .validate = [](const MixerContext& c, const Options& o) { whole_heads(c, o, "head_size"); },
  };
}

MixerEntry rwkv7_entry() {
  return {
      .name = "rwkv7",
      .family = "rwkv",
      .summary = "RWKV-7 time mix: a matrix state with decay per channel and a generalised delta rule",
      .citation = "Peng et al. 2025, RWKV-7 \"Goose\" with Expressive Dynamic State Evolution",
      .options =
          {
              integer_field("head_dim", 0, 0, 4096, "channels of a head; 0: 64, or the width if that is less"),
              integer_field("decay_low_rank_dim", 0, 0, 65536, "rank of the decay's map; 0: by the width"),
              integer_field("gate_low_rank_dim", 0, 0, 65536, "rank of the output gate's map; 0: by the width"),
              integer_field("a_low_rank_dim", 0, 0, 65536,
                            "rank of the in-context learning rate's map; 0: by the width"),
              integer_field("v_low_rank_dim", 0, 0, 65536,
                            "rank of the map that blends in the first layer's values; 0: by the width"),
              flag_field("value_residual", true, "layers after the first blend their values with those of the first"),
              real_field("norm_eps", 1e-5, 1e-12, 1.0, "eps of the output norm, times the channels of a head"),
              flag_field("fuse_norm", false, "accepted for configurations of fla; without effect"),
          },
      .parameters =
          [](const MixerContext& c, const Options& o) {
            const Rwkv7Ranks ranks = rwkv7_ranks(c, o);
            return 4 * c.width * c.width + 13 * c.width + 2 * c.width * (ranks.decay + ranks.gate + ranks.a + ranks.v) +
                   (ranks.v > 0 ? c.width : 0);
          },
      .state = [](const MixerContext& c,
                  const Options& o) { return c.width * rwkv_head_size(c, o, "head_dim") + c.width; },
      .flops =
          [](const MixerContext& c, const Options& o) {
            const Rwkv7Ranks ranks = rwkv7_ranks(c, o);
            const auto D = static_cast<double>(c.width);
            const auto N = static_cast<double>(rwkv_head_size(c, o, "head_dim"));
            return length(c) *
                   (8.0 * D * D + 4.0 * D * static_cast<double>(ranks.decay + ranks.gate + ranks.a + ranks.v) +
                    9.0 * D * N);
          },
      .validate = [](const MixerContext& c, const Options& o) { whole_heads(c, o, "head_dim"); },
  };
}

}  // namespace mneme::catalog
