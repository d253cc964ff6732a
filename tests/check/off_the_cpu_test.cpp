// Every mixer on a device whose memory cannot be read from here: forward, backward and step take no pointer, make every
// tensor where the model is, and compute what the composed path computes on the CPU.
#include <gtest/gtest.h>

#include "check/subject.h"
#include "mixers/all_cases.h"
#include "ops/ghost_device.h"
#include "ops/path.h"
#include "train/parameters.h"

namespace mneme::check {
namespace {

using testing::ghost_device;
using testing::MixerCase;
using torch::Tensor;

constexpr std::int64_t kBatch = 2, kLength = 6, kWidth = 8;
// Composed operations of the same order on both sides. Worst of all cases: see the property `worst`.
constexpr double kTolerance = 1e-4;

// What a mixer computes, by name, back on the host.
using Trace = std::map<std::string, Tensor>;

Trace trace_on(const MixerCase& entry, torch::Device device) {
  const Subject subject = Subject::of_list(entry.name, entry.options, kWidth);
  const mixers::MixerPointer mixer = subject.make(kLength);
  const train::FlatParameters parameters(*mixer, device);
  Tensor x = sample({kBatch, kLength, kWidth}, 3).to(device).requires_grad_(true);
  nn::Pass pass = nn::Pass::training(7, 0, 0), labelled = nn::Pass::training(7, 1, 0);
  const Tensor y = mixer->forward(x, pass);
  const Tensor positions = torch::tensor({1, 4, 9}, torch::kInt64).to(device);
  const Tensor at = mixer->forward_at(x, positions, labelled);
  const Tensor dy = sample(y.sizes(), 4).to(device), dat = sample(at.sizes(), 5).to(device);
  ((y * dy).sum() + (at * dat).sum()).backward();
  EXPECT_EQ(y.device(), device);
  Trace trace{{"output", y}, {"labelled", at}, {"dx", x.grad()}, {"gradients", parameters.gradients}};
  if (mixer->has_step()) {
    const torch::NoGradGuard guard;
    mixers::MixerState state = mixer->initial_state(kBatch);
    std::vector<Tensor> steps;
    for (std::int64_t t = 0; t < kLength; ++t) steps.push_back(mixer->step(state, x.select(1, t)));
    trace["step"] = torch::stack(steps, 1);
  }
  for (auto& [name, tensor] : trace) tensor = tensor.detach().cpu();
  return trace;
}

class EveryMixerOffTheCpu : public ::testing::TestWithParam<MixerCase> {};

TEST_P(EveryMixerOffTheCpu, ComputesWhatItsComposedPathComputesOnTheCpu) {
  Trace expected;
  {
    const ops::ScopedComposed composed;
    expected = trace_on(GetParam(), torch::kCPU);
  }
  const Trace found = trace_on(GetParam(), ghost_device());
  double worst = 0;
  for (const auto& [name, tensor] : expected) {
    const double scale = std::max(largest(tensor), 1e-3), error = largest(found.at(name) - tensor) / scale;
    EXPECT_LE(error, kTolerance) << name;
    worst = std::max(worst, error);
  }
  RecordProperty("worst", std::to_string(worst));
}

std::string test_name(const ::testing::TestParamInfo<MixerCase>& info) { return testing::case_name(info.param); }

INSTANTIATE_TEST_SUITE_P(List, EveryMixerOffTheCpu, ::testing::ValuesIn(testing::all_mixer_cases()), test_name);

TEST(GhostDevice, RefusesRawAccessAndIsNoPlaceForKernels) {
  const Tensor x = torch::ones({3}, ghost_device());
  EXPECT_FALSE(ops::use_kernels(x));
  EXPECT_EQ(x.sum().item<float>(), 3.0F);
  EXPECT_DEATH(std::printf("%f", static_cast<double>(*x.data_ptr<float>())), "");
}

}  // namespace
}  // namespace mneme::check
