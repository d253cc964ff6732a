#include "train/optimiser.h"

#include <cmath>
#include <numbers>

#include "core/error.h"
#include "kernels/dense/adamw.h"
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

Optimiser::Optimiser(FlatParameters& parameters, const Options& train)
    : first_moment(torch::zeros_like(parameters.values)),
      second_moment(torch::zeros_like(parameters.values)),
      parameters_(parameters),
      train_(train) {}

double Optimiser::update(std::int64_t step, TraceStep* trace) {
  const ops::Part part("optimiser");
  const float* gradients = parameters_.gradients.data_ptr<float>();
  const double norm = std::sqrt(kernels::sum_of_squares(gradients, static_cast<std::size_t>(parameters_.size())));
  const double clip = train_.real("clip"), scale = clip > 0 && norm > clip ? clip / norm : 1;
  const bool spare_vectors = train_.text("decay_exempt") == "vectors";
  for (const auto& segment : parameters_.segments()) {
    const bool exempt = spare_vectors && segment.shape.size() < 2;
    const auto count = static_cast<std::size_t>(segment.size);
    kernels::AdamWNorms norms;
    kernels::adamw({
        .parameters = parameters_.values.data_ptr<float>() + segment.offset,
        .gradients = gradients + segment.offset,
        .first_moment = first_moment.data_ptr<float>() + segment.offset,
        .second_moment = second_moment.data_ptr<float>() + segment.offset,
        .count = count,
        .lr = learning_rate(train_, step),
        .beta1 = train_.real("beta1"),
        .beta2 = train_.real("beta2"),
        .eps = train_.real("eps"),
        .decay = exempt ? 0.0 : train_.real("weight_decay"),
        .grad_scale = scale,
        .step = step + 1,
        .norms = trace ? &norms : nullptr,
    });
    if (!trace) continue;
    trace->gradient_norm.push_back(
        static_cast<float>(std::sqrt(kernels::sum_of_squares(gradients + segment.offset, count))));
    // Of weights that are all zero, such as biases at the start, the change itself.
    trace->update_ratio.push_back(
        static_cast<float>(std::sqrt(norms.updates / (norms.weights > 0 ? norms.weights : 1.0))));
  }
  return norm;
}

}  // namespace mneme::train
