#include "tasks/recall.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace mneme::tasks {
namespace {

std::vector<double> slot_weights(std::int64_t slots, double power) {
  std::vector<double> weights;
  for (std::int64_t g = 0; g < slots; ++g) weights.push_back(std::pow(static_cast<double>(g + 1), power - 1.0));
  return weights;
}

}  // namespace

QuestionRegion::QuestionRegion(std::int64_t slots, const Options& options)
    : slots_(slot_weights(slots, options.real("power"))),
      random_filler_(options.text("filler") == "random"),
      vocab_(static_cast<std::uint32_t>(options.integer("vocab"))) {}

void QuestionRegion::fill(Random& random, std::span<std::int32_t> region) const {
  if (random_filler_)
    fill_uniform(random, 0, vocab_, region);
  else
    std::fill(region.begin(), region.end(), 0);
}

Field power_field() {
  return real_field("power", 0.01, -16, 16, "slot weights (g + 1)^(power - 1): 0.01 favours early slots, 1 is uniform");
}

Field filler_field() {
  return choice_field("filler", "random", {"random", "zero"}, "tokens at positions without a label");
}

void check_recall_sizes(const Options& options, std::int64_t width, std::int64_t context) {
  const std::int64_t length = options.integer("length");
  const std::int64_t least = context + width * options.integer("pairs");
  if (length % width != 0) options.reject("length", fmt::format("a multiple of {}", width));
  if (length < least)
    options.reject("length", fmt::format("at least {}: {} tokens of context and a slot of {} for each of {} pairs",
                                         least, context, width, options.integer("pairs")));
}

void check_recall_vocabulary(const Options& options) {
  const std::int64_t length = options.integer("length");
  if (options.integer("vocab") <= length) options.reject("vocab", fmt::format("more than length = {}", length));
}

}  // namespace mneme::tasks
