// How memory and time grow with the length.
#include <fmt/format.h>

#include <cmath>
#include <ctime>

#include "check/check.h"
#include "check/tensor_memory.h"

namespace mneme {
namespace {

void forward_and_backward(Mixer& mixer, const torch::Tensor& x) {
  torch::Tensor input = x.detach().requires_grad_(true);
  evaluate(mixer, input).sum().backward();
  for (auto& parameter : mixer.parameters()) parameter.mutable_grad() = torch::Tensor();
}

// The mixer's own start: with arbitrary values some mixers overflow over thousands of tokens, and
// denormal numbers are slow.
MixerPointer at_its_start(const Subject& subject, std::int64_t length) {
  MixerPointer mixer = subject.build(subject.context(length), subject.options);
  const Draw draw(1);
  for (const auto& module : mixer->named_modules()) {
    if (auto* own = dynamic_cast<SelfInitialised*>(module.value().get()))
      own->initialise(draw, module.key().empty() ? "" : module.key() + ".");
  }
  return mixer;
}

std::int64_t peak_bytes(const Subject& subject, std::int64_t length) {
  const MixerPointer mixer = at_its_start(subject, length);
  const torch::Tensor x = sample({1, length, subject.width}, 43);
  return peak_tensor_memory([&] { forward_and_backward(*mixer, x); });
}

// Time of the processor, so that waiting for it behind other work does not count.
double seconds(Mixer& mixer, const torch::Tensor& x) {
  const auto now = [] { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; };
  const double start = now();
  forward_and_backward(mixer, x);
  return now() - start;
}

// The quickest of several tries: other work on the machine only ever adds time.
double quickest(const Subject& subject, std::int64_t length) {
  constexpr int kTries = 5;
  const MixerPointer mixer = at_its_start(subject, length);
  const torch::Tensor x = sample({4, length, subject.width}, 47);
  double best = seconds(*mixer, x);
  for (int i = 1; i < kTries; ++i) best = std::min(best, seconds(*mixer, x));
  return best;
}

bool state_grows(const Subject& subject) {
  return subject.entry->state(subject.context(4096), subject.options) >
         subject.entry->state(subject.context(512), subject.options);
}

}  // namespace

Finding check_memory(const Subject& subject) {
  // Seeing the whole sequence at once is what composed operations are allowed to pay for.
  if (!subject.entry->causal(subject.options))
    return {Finding::Verdict::not_applicable, "these options look ahead: no kernel keeps their memory linear"};
  constexpr std::int64_t kShort = 256, kLong = 2048;
  // What does not grow with the length (parameters, their gradients) only lowers the ratio.
  constexpr double kSlack = 1.05;
  const auto small = static_cast<double>(peak_bytes(subject, kShort)), large = static_cast<double>(peak_bytes(subject, kLong));
  const double ratio = large / small, allowed = kSlack * kLong / kShort;
  return Finding::passed_if(ratio <= allowed,
                            fmt::format("{:.0f} KiB at L = {}, {:.0f} KiB at L = {}: {:.2f}x for {}x the length", small / 1024,
                                        kShort, large / 1024, kLong, ratio, kLong / kShort));
}

Finding check_cost(const Subject& subject) {
  // Beyond this a mixer without kernels would keep a person waiting.
  constexpr double kPatience = 2.0;
  constexpr double kMost = 9.0;
  std::vector<std::pair<std::int64_t, double>> times;
  for (const std::int64_t length : {512, 1024, 2048, 4096}) {
    times.emplace_back(length, quickest(subject, length));
    if (times.back().second > kPatience) break;
  }
  if (times.size() < 2)
    return {Finding::Verdict::failed, fmt::format("{:.1f} s at L = {}: too slow to measure its growth", times[0].second, times[0].first)};
  const auto [first, last] = std::pair(times.front(), times.back());
  const double ratio = last.second / first.second, lengths = static_cast<double>(last.first) / static_cast<double>(first.first);
  const double exponent = std::log(ratio) / std::log(lengths);
  // Flat cost per token is promised by a state that does not grow.
  const bool promised = !state_grows(subject);
  const double allowed = std::pow(lengths, std::log(kMost) / std::log(8.0));
  return Finding::passed_if(!promised || ratio <= allowed,
                            fmt::format("L^{:.2f}: {:.1f} ms at L = {}, {:.1f}x at L = {}{}", exponent, 1e3 * first.second,
                                        first.first, ratio, last.first, promised ? "" : " (its state grows)"));
}

}  // namespace mneme
