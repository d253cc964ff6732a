// Nothing is kept between calls, and nothing is left to chance.
#include <fmt/format.h>

#include "check/check.h"

namespace mneme::check {
namespace {

using torch::Tensor;

Tensor run(mixers::Mixer& mixer, const Tensor& x, bool training) {
  nn::Pass pass = training ? nn::Pass::training(5, 1, 0) : nn::Pass::evaluation();
  return mixer.forward(x, pass).detach();
}

std::vector<std::pair<std::string, Tensor>> kept_by(const mixers::Mixer& mixer) {
  std::vector<std::pair<std::string, Tensor>> copies;
  for (const auto& item : mixer.named_buffers()) copies.emplace_back(item.key(), item.value().clone());
  for (const auto& item : mixer.named_parameters()) copies.emplace_back(item.key(), item.value().detach().clone());
  return copies;
}

bool same(const Tensor& a, const Tensor& b) { return a.sizes() == b.sizes() && a.allclose(b, 0, 0, true); }

}  // namespace

Finding check_repeat(const Subject& subject) {
  constexpr std::int64_t L = 12;
  const torch::NoGradGuard guard;
  const mixers::MixerPointer mixer = subject.make(L), twin = subject.make(L);
  const Tensor x = sample({2, L, subject.width}, 61), other = sample({2, L, subject.width}, 67);
  for (const bool training : {false, true}) {
    const std::string mode = training ? "in training" : "in evaluation";
    const auto before = kept_by(*mixer);
    const Tensor first = run(*mixer, x, training);
    run(*mixer, other, training);
    const auto after = kept_by(*mixer);
    for (std::size_t i = 0; i < before.size(); ++i)
      if (!same(before[i].second, after[i].second))
        return {Finding::Verdict::failed,
                fmt::format("'{}' changes in forward, {}: it keeps state between calls, which no checkpoint holds",
                            before[i].first, mode)};
    if (!same(first, run(*mixer, x, training)))
      return {Finding::Verdict::failed,
              fmt::format("the same input gives a different output {} after the module has seen another input: it "
                          "keeps state between calls or is not deterministic",
                          mode)};
    if (!same(first, run(*twin, x, training)))
      return {Finding::Verdict::failed, fmt::format("a second module with the same weights gives a different output "
                                                    "{}: something other than weights and seeds decides",
                                                    mode)};
  }
  return Finding::passed_if(true, "equal to the bit, in training and in evaluation, also from a second module");
}

}  // namespace mneme::check
