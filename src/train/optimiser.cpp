#include "train/optimiser.h"

#include <cmath>
#include <numbers>
#include <vector>

#include "core/error.h"
#include "ops/profile.h"

namespace mneme::train {

double learning_rate(const Options& train, std::int64_t step) {
  const double peak = train.real("lr");
  const auto steps = static_cast<double>(train.integer("steps"));
  const double warmup = std::floor(train.real("warmup") * steps);
  const auto s = static_cast<double>(step);
  if (s < warmup) return peak * (s + 1.0) / warmup;
  const std::string schedule = train.text("schedule");
  if (schedule == "constant") return peak;
  const double progress = (s - warmup) / std::max(1.0, steps - warmup);
  if (schedule == "linear") return peak * (1.0 - progress);
  require(schedule == "cosine", "a schedule of the schema");
  return peak * 0.5 * (1.0 + std::cos(std::numbers::pi * progress));
}

namespace {

// A segment's numbers, from sums of squares.
void note(TraceStep& trace, const kernels::AdamWNorms& norms, double gradients) {
  trace.gradient_norm.push_back(static_cast<float>(std::sqrt(gradients)));
  // Of weights that are all zero, such as biases at the start, the change itself.
  trace.update_ratio.push_back(
      static_cast<float>(std::sqrt(norms.updates / (norms.weights > 0 ? norms.weights : 1.0))));
}

}  // namespace

Optimiser::Optimiser(FlatParameters& parameters, const Options& train)
    : first_moment(torch::zeros_like(parameters.values)),
      second_moment(torch::zeros_like(parameters.values)),
      parameters_(parameters),
      train_(train) {}

double Optimiser::update(std::int64_t step, TraceStep* trace) {
  const ops::Part part("optimiser");
  const double norm = euclidean_norm(parameters_.gradients);
  const double clip = train_.real("clip"), scale = clip > 0 && norm > clip ? clip / norm : 1;
  const bool spare_vectors = train_.text("decay_exempt") == "vectors";
  std::vector<torch::Tensor> squares;  // off the CPU, [3] of each segment: brought to the host together
  for (const auto& segment : parameters_.segments()) {
    const bool exempt = spare_vectors && segment.shape.size() < 2;
    kernels::AdamWNorms norms;
    kernels::AdamWArguments arguments{
        .parameters = nullptr,
        .gradients = nullptr,
        .first_moment = nullptr,
        .second_moment = nullptr,
        .count = static_cast<std::size_t>(segment.size),
        .lr = learning_rate(train_, step),
        .beta1 = train_.real("beta1"),
        .beta2 = train_.real("beta2"),
        .eps = train_.real("eps"),
        .decay = exempt ? 0.0 : train_.real("weight_decay"),
        .grad_scale = scale,
        .step = step + 1,
        .norms = trace ? &norms : nullptr,
    };
    if (!parameters_.values.is_cpu()) {
      const torch::Tensor sums = update_by_tensors(segment, arguments);
      if (trace) squares.push_back(sums);
      continue;
    }
    arguments.parameters = parameters_.values.data_ptr<float>() + segment.offset;
    arguments.gradients = parameters_.gradients.data_ptr<float>() + segment.offset;
    arguments.first_moment = first_moment.data_ptr<float>() + segment.offset;
    arguments.second_moment = second_moment.data_ptr<float>() + segment.offset;
    kernels::adamw(arguments);
    if (trace) note(*trace, norms, kernels::sum_of_squares(arguments.gradients, arguments.count));
  }
  if (!squares.empty()) {
    const torch::Tensor host = torch::stack(squares).cpu();  // [segments, 3]
    for (std::int64_t i = 0; i < host.size(0); ++i) {
      const float* sums = host.data_ptr<float>() + 3 * i;
      note(*trace, {.weights = sums[0], .updates = sums[1]}, sums[2]);
    }
  }
  return norm;
}

torch::Tensor Optimiser::update_by_tensors(const FlatParameters::Segment& segment, const kernels::AdamWArguments& a) {
  const torch::NoGradGuard guard;
  const auto part_of = [&](const torch::Tensor& flat) { return flat.narrow(0, segment.offset, segment.size); };
  const torch::Tensor gradients = part_of(parameters_.gradients), g = gradients * a.grad_scale;
  torch::Tensor p = part_of(parameters_.values), m = part_of(first_moment), v = part_of(second_moment);
  const torch::Tensor before = a.norms ? p.clone() : torch::Tensor();
  const auto t = static_cast<double>(a.step);
  m.mul_(a.beta1).add_(g, 1.0 - a.beta1);
  v.mul_(a.beta2).addcmul_(g, g, 1.0 - a.beta2);
  p.mul_(1.0 - a.lr * a.decay);
  const torch::Tensor below = v.sqrt().div_(std::sqrt(1.0 - std::pow(a.beta2, t))).add_(a.eps);
  p.addcdiv_(m, below, -a.lr / (1.0 - std::pow(a.beta1, t)));
  if (!a.norms) return {};
  return torch::stack({before.square().sum(), (p - before).square().sum(), gradients.square().sum()});
}

}  // namespace mneme::train
