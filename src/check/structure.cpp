// Shape, causality, order, parameters.
#include <fmt/format.h>

#include "check/check.h"

namespace mneme::check {

Finding check_shape(const Subject& subject) {
  // Longer than any short convolution; a mixer built for it must take everything below.
  constexpr std::int64_t kLongest = 40;
  const mixers::MixerPointer general = subject.make(kLongest);
  std::int64_t width = 0;
  for (const std::int64_t length : {1, 2, 3, 7, 16, 33, 40}) {
    const torch::Tensor x = sample({3, length, subject.width}, 7);
    for (const mixers::MixerPointer& mixer : {general, subject.make(length)}) {
      const torch::Tensor y = evaluate(*mixer, x);
      if (y.dim() != 3 || y.size(0) != 3 || y.size(1) != length)
        return {Finding::Verdict::failed, fmt::format("L = {}: input [3, {}, {}] became {} numbers in {} dimensions",
                                                      length, length, subject.width, y.numel(), y.dim())};
      if (!y.isfinite().all().item<bool>())
        return {Finding::Verdict::failed, fmt::format("L = {}: an output is not finite", length)};
      width = y.size(2);
    }
  }
  return Finding::passed_if(
      true, fmt::format("[B, L, {}] -> [B, L, {}] for L = 1, 2, 3, 7, 16, 33, 40", subject.width, width));
}

Finding check_causality(const Subject& subject) {
  constexpr std::int64_t L = 37;
  const torch::NoGradGuard guard;
  const mixers::MixerPointer mixer = subject.make(L);
  const torch::Tensor x = sample({2, L, subject.width}, 11);
  const torch::Tensor before = evaluate(*mixer, x);
  std::int64_t seen_from_before = 0, silent = 0;
  for (std::int64_t t = 0; t < L; ++t) {
    torch::Tensor changed = x.clone();
    changed.select(1, t).add_(1.0);
    const torch::Tensor after = evaluate(*mixer, changed);
    if (torch::equal(before.select(1, t), after.select(1, t))) ++silent;
    if (!torch::equal(before.narrow(1, 0, t), after.narrow(1, 0, t))) ++seen_from_before;
  }
  // A saturated or rectified unit may ignore a token now and then.
  if (2 * silent > L)
    return {Finding::Verdict::failed, fmt::format("{} of {} tokens have no effect on their own output", silent, L)};
  const bool causal = subject.entry->causal(subject.options);
  if (causal)
    return Finding::passed_if(seen_from_before == 0,
                              seen_from_before == 0
                                  ? fmt::format("to the bit, after changing each of {} tokens in turn", L)
                                  : fmt::format("{} of {} tokens change earlier outputs", seen_from_before, L));
  return Finding::passed_if(
      seen_from_before > 0,
      fmt::format("looks ahead as declared: {} of {} tokens change earlier outputs", seen_from_before, L));
}

namespace {

// An order-blind mixer differs by rounding, one that knows order by far more; between the two lies nothing.
constexpr double kRounding = 1e-5, kEffect = 1e-4;

// How much the last output changes, of its largest value, if the tokens before it are permuted.
double effect_of_order(const Subject& subject) {
  constexpr std::int64_t L = 6;
  const torch::NoGradGuard guard;
  const mixers::MixerPointer mixer = subject.make(L);
  const torch::Tensor x = sample({1, L, subject.width}, 13);
  const torch::Tensor swapped = x.index_select(1, torch::tensor({2, 0, 1, 4, 3, 5}));
  const torch::Tensor y = evaluate(*mixer, x).select(1, L - 1);
  return largest(y - evaluate(*mixer, swapped).select(1, L - 1)) / largest(y);
}

}  // namespace

bool sees_order(const Subject& subject) { return effect_of_order(subject) > kRounding; }

Finding check_order(const Subject& subject) {
  const double change = effect_of_order(subject);
  const bool knows = subject.entry->knows_order(subject.options);
  return Finding::passed_if(knows ? change > kEffect : change < kRounding,
                            fmt::format("{}: permuting earlier tokens changes the last output by {:.1e}",
                                        knows ? "order matters" : "does not see order, needs positions", change));
}

Finding check_parameters(const Subject& subject) {
  constexpr std::int64_t L = 6;
  std::int64_t count = 0;
  for (const auto& parameter : subject.make(L)->parameters()) count += parameter.numel();
  const std::int64_t declared = subject.entry->parameters(subject.context(L), subject.options);
  return Finding::passed_if(count == declared, count == declared
                                                   ? fmt::format("{}", count)
                                                   : fmt::format("{} measured, {} declared", count, declared));
}

}  // namespace mneme::check
