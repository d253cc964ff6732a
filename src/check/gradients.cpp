// Gradients against derivatives, kernels against composed operations.
#include <fmt/format.h>

#include <cmath>

#include "check/check.h"
#include "ops/path.h"

namespace mneme::check {
namespace {

using NamedTensors = std::vector<std::pair<std::string, torch::Tensor>>;

// Output and every gradient along `direction`, as doubles.
NamedTensors derivatives(mixers::Mixer& mixer, const torch::Tensor& x, const torch::Tensor& direction) {
  torch::Tensor input = x.clone().requires_grad_(true);
  for (auto& parameter : mixer.parameters()) parameter.mutable_grad() = torch::Tensor();
  const torch::Tensor y = evaluate_with_gradient(mixer, input);
  y.backward(direction);
  NamedTensors result = {{"the output", y.detach().to(torch::kFloat64)},
                         {"the input's gradient", input.grad().to(torch::kFloat64)}};
  for (const auto& item : mixer.named_parameters()) {
    // A parameter that plays no part at this length (a decay, with one token) has no gradient.
    const torch::Tensor gradient = item.value().grad();
    result.emplace_back("the gradient of " + item.key(), gradient.defined()
                                                             ? gradient.to(torch::kFloat64).clone()
                                                             : torch::zeros_like(item.value(), torch::kFloat64));
  }
  return result;
}

// Of the largest value in the tensor.
// Worst seen over all mixers at widths 16, 32, 33 and 64: 0.37 of what the three limits below allow.
constexpr double kKernelTolerance = 3e-5;
// Where a gradient is a difference of nearly equal numbers, both paths lose digits: then the kernel may be
// this much further from the truth (the composed path in double) than the composed path in float32 is for
// one of some inputs that differ in their last bits. Few inputs can all be lucky ones: with four of them NRU at width
// 24 was at 1.08 of the limits with libtorch 2.6, with twelve at 0.31.
constexpr double kCancellation = 4;
constexpr int kInputs = 12;

}  // namespace

Finding check_gradient(const Subject& subject) {
  constexpr std::int64_t L = 5;
  constexpr double kTolerance = 1e-6;
  const ops::ScopedComposed composed;
  const mixers::MixerPointer mixer = subject.make(L);
  mixer->to(torch::kFloat64);
  torch::Tensor x = sample({2, L, subject.width}, 17, torch::kFloat64).requires_grad_(true);
  const torch::Tensor direction = sample(evaluate(*mixer, x).sizes(), 19, torch::kFloat64);
  (evaluate_with_gradient(*mixer, x) * direction).sum().backward();

  const torch::NoGradGuard guard;
  const auto objective = [&] { return (evaluate(*mixer, x) * direction).sum().item<double>(); };
  NamedTensors variables = {{"the input", x}};
  for (const auto& item : mixer->named_parameters()) variables.emplace_back(item.key(), item.value());
  double worst = 0;
  std::string where = "nothing";
  std::uint64_t seed = 100;
  for (auto& [name, variable] : variables) {
    const torch::Tensor along = sample(variable.sizes(), seed++, torch::kFloat64);
    const double expected = variable.grad().defined() ? (variable.grad() * along).sum().item<double>() : 0.0;
    // Large steps meet kinks and curvature, small ones rounding: a right gradient agrees with one of them.
    double error = INFINITY;
    for (const double step : {1e-5, 1e-6, 1e-7}) {
      const torch::Tensor original = variable.clone();
      variable.add_(along, step);
      const double up = objective();
      variable.copy_(original).add_(along, -step);
      const double down = objective();
      variable.copy_(original);
      error = std::min(error, std::abs((up - down) / (2 * step) - expected) / (1 + std::abs(expected)));
    }
    if (!(error <= worst)) {
      worst = error;
      where = name;
    }
  }
  return Finding::passed_if(worst <= kTolerance,
                            fmt::format("{} tensors, worst gradient error {:.1e} (allowed {:.0e}), in {}",
                                        variables.size(), worst, kTolerance, where));
}

Finding check_kernels(const Subject& subject) {
  double worst = 0;
  std::string where = "nothing";
  bool identical = true;
  for (const std::int64_t length : {1, 2, 7, 40}) {
    const mixers::MixerPointer mixer = subject.make(length);
    const torch::Tensor x = sample({3, length, subject.width}, 23);
    const torch::Tensor direction = sample(evaluate(*mixer, x).sizes(), 29);
    const NamedTensors kernels = derivatives(*mixer, x, direction);
    const ops::ScopedComposed guard;
    NamedTensors truth;
    std::vector<double> composed_error;
    for (int input = 0; input < kInputs; ++input) {
      const torch::Tensor nearby = x * (1 + 1e-6 * input * sample(x.sizes(), 53));
      const NamedTensors composed = derivatives(*mixer, nearby, direction);
      mixer->to(torch::kFloat64);
      const NamedTensors exact = derivatives(*mixer, nearby.to(torch::kFloat64), direction.to(torch::kFloat64));
      mixer->to(torch::kFloat32);
      if (input == 0) {
        truth = exact;
        composed_error.assign(exact.size(), 0.0);
        for (std::size_t i = 0; i < exact.size(); ++i)
          identical = identical && torch::equal(kernels[i].second, composed[i].second);
      }
      for (std::size_t i = 0; i < exact.size(); ++i)
        composed_error[i] = std::max(composed_error[i], largest(composed[i].second - exact[i].second));
    }
    double overall = 0;
    for (const auto& [name, tensor] : truth) overall = std::max(overall, largest(tensor));
    for (std::size_t i = 0; i < truth.size(); ++i) {
      // One unit of rounding of the largest number: what a gradient that is zero in theory may show.
      const double allowed =
          std::max({kKernelTolerance * largest(truth[i].second), kCancellation * composed_error[i], 0x1p-23 * overall});
      const double error = largest(kernels[i].second - truth[i].second);
      const double ratio = error == 0 ? 0 : error / allowed;
      if (!(ratio <= worst)) {
        worst = ratio;
        where = fmt::format("{} at L = {}", truth[i].first, length);
      }
    }
  }
  if (identical)
    return {Finding::Verdict::not_applicable, "no kernel to compare: this mixer uses composed operations only"};
  return Finding::passed_if(worst <= 1, fmt::format("worst error is {:.2f} of the tolerance, in {}", worst, where));
}

}  // namespace mneme::check
