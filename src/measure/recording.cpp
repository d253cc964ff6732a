#include "measure/recording.h"

#include <algorithm>

#include "core/timing.h"
#include "models/sequence_model.h"
#include "train/decays.h"
#include "train/optimiser.h"
#include "train/parameters.h"

namespace mneme::measure {
namespace {

constexpr int kTurns = 201;

}  // namespace

RecordingCost recording_cost(const config::RunConfig& run, const torch::Tensor& gradients) {
  const auto model = models::build_model(run);
  train::FlatParameters parameters(*model, gradients.device());
  parameters.values.normal_(0, 0.02);
  parameters.gradients.copy_(gradients);
  train::Optimiser optimiser(parameters, run.train);
  const train::Decays decays(parameters);
  TrainingTrace trace;
  for (const auto& segment : parameters.segments()) trace.groups.push_back(segment.name);
  std::vector<double> plain, recorded, norm;
  const auto timed = [](std::vector<double>& times, const auto& work) {
    const double start = now(Clock::thread);
    work();
    times.push_back(now(Clock::thread) - start);
  };
  for (int i = 0; i < kTurns; ++i) {
    timed(plain, [&] { optimiser.update(i); });
    timed(recorded, [&] {
      TraceStep step;
      optimiser.update(i, &step);
      std::tie(step.smallest_decay, step.largest_decay) = decays.range();
      trace.add(std::move(step));
    });
    timed(norm, [&] { train::euclidean_norm(parameters.gradients); });
  }
  return {std::max(0.0, median(recorded) - median(plain)), median(norm)};
}

}  // namespace mneme::measure
