// A mixer under examination, and how its checks build and run it.
#pragma once

#include <functional>

#include "mixers/mixer.h"

namespace mneme::check {

// One mixer of the list, or one that is not on it yet, with options that have passed its schema.
struct Subject {
  const catalog::MixerEntry* entry;
  Options options;
  std::int64_t width = 16;
  std::function<mixers::MixerPointer(const catalog::MixerContext&, const Options&)> build;

  catalog::MixerContext context(std::int64_t length) const { return {width, length, 0, 2}; }
  // Built for sequences of up to `length` tokens, every parameter normal with a deviation of at most 0.3, the same each
  // time: a mixer's own start often has zeros, which could hide a wrong gradient.
  mixers::MixerPointer make(std::int64_t length) const;
  // A mixer of the list. Throws Error(usage) for an unknown name or unfit options.
  static Subject of_list(const std::string& name, const Json& options, std::int64_t width);
};

torch::Tensor evaluate(mixers::Mixer& mixer, const torch::Tensor& x);
// The same where gradients are wanted. Throws Error(mismatch) if the output has none.
torch::Tensor evaluate_with_gradient(mixers::Mixer& mixer, const torch::Tensor& x);
double largest(const torch::Tensor& tensor);

// Reproducible normal numbers, independent of torch's global generator.
torch::Tensor sample(at::IntArrayRef shape, std::uint64_t seed, torch::Dtype dtype = torch::kFloat32);

}  // namespace mneme::check
