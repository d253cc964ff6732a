#include "catalog/entries.h"

#include <cmath>

#include "catalog/recurrent.h"

namespace mneme::catalog {
namespace {

struct Shape {
  std::int64_t D, H, M, k, side;
  bool eq5, table8, norm;
};

Shape shape_of(const MixerContext& context, const Options& options) {
  const std::int64_t M = options.integer("memory_size"), k = options.integer("k");
  const std::string variant = options.text("variant");
  return {context.width,
          hidden_size(context, options),
          M,
          k,
          std::llround(std::sqrt(static_cast<double>(M * k))),
          variant == "eq5",
          variant == "table8",
          options.flag("layer_norm") || variant == "table8"};
}

std::int64_t parameters(const MixerContext& context, const Options& options) {
  const auto [D, H, M, k, side, eq5, table8, norm] = shape_of(context, options);
  if (eq5) return (H + 2 + 2 * M) * (D + H + M + 1);
  const std::int64_t heads = (4 * side + 2 * k) * ((table8 ? D : 0) + H + M + 1);
  return H * (D + H + M + 1) + heads + (norm ? 2 * H : 0) + (table8 ? H * H + H : 0);
}

double flops(const MixerContext& context, const Options& options) {
  const auto [D, H, M, k, side, eq5, table8, norm] = shape_of(context, options);
  const std::int64_t maps = parameters(context, options) - (norm ? 2 * H : 0);
  // Two vectors per head: product, fifth power, division, update.
  const std::int64_t memory = eq5 ? 4 * M : 16 * k * M;
  return static_cast<double>(context.length) * static_cast<double>(2 * maps + memory);
}

void validate(const MixerContext& context, const Options& options) {
  const Shape shape = shape_of(context, options);
  if (shape.eq5 && shape.k != 1) options.reject("k", "1 with variant = \"eq5\"");
  if (!shape.eq5 && shape.side * shape.side != shape.M * shape.k)
    options.reject("memory_size", "a number whose product with k = " + std::to_string(shape.k) + " is a square");
}

}  // namespace

MixerEntry nru_entry() {
  return {
      .name = "nru",
      .family = "recurrent",
      .summary = "non-saturating recurrent unit: a ReLU state and a memory that is written and erased additively",
      .citation = "Chandar et al. 2019, Towards Non-saturating Recurrent Units for Modelling Long-term Dependencies",
      .options =
          {
              choice_field("variant", "original", {"original", "eq5", "table8"},
                           "the authors' cell; the equations of paper B; the cell with paper B's parameter counts"),
              integer_field("hidden_size", 0, 0, 1 << 20, "channels H of the state and the output; 0: the width"),
              integer_field("memory_size", 64, 1, 1 << 20, "memory M"),
              integer_field("k", 1, 1, 1024, "heads that write and erase; k times M must be a square"),
              flag_field("use_relu", false, "ReLU on the gates and vectors of the heads"),
              flag_field("layer_norm", false, "LayerNorm before the ReLU of the state; always with table8"),
              choice_field("activation", "relu", {"relu"}, "activation of eq5"),
          },
      .parameters = parameters,
      .state = [](const MixerContext& context,
                  const Options& options) { return hidden_size(context, options) + options.integer("memory_size"); },
      .flops = flops,
      .validate = validate,
  };
}

}  // namespace mneme::catalog
