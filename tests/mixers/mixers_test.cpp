// The one parametrised test of every mixer: what each must do, whatever it is.
#include <gtest/gtest.h>

#include <algorithm>

#include "mixers/attention_cases.h"
#include "mixers/delta_cases.h"
#include "mixers/linear_cases.h"
#include "mixers/mixer.h"
#include "mixers/path.h"
#include "mixers/recurrent_cases.h"

namespace mneme {
namespace {

using testing::MixerCase;

// Every mixer at its defaults, and the options that change its structure.
std::vector<MixerCase> cases() {
  std::vector<MixerCase> list;
  for (const auto* catalog : {&mixer_catalog(), &state_mixer_catalog()})
    for (const MixerEntry& entry : *catalog) list.push_back({entry.name, Json::object()});
  for (const auto& family : {testing::attention_cases(), testing::state_mixer_cases(), testing::delta_cases(),
                             testing::linear_cases(), testing::recurrent_cases(), testing::state_space_cases()})
    list.insert(list.end(), family.begin(), family.end());
  return list;
}

const MixerEntry& entry_of(const std::string& name) {
  for (const MixerEntry& entry : state_mixer_catalog())
    if (entry.name == name) return entry;
  return find_mixer(name);
}

class Mixers : public ::testing::TestWithParam<MixerCase> {
 protected:
  static constexpr std::int64_t kWidth = 8;

  Mixers() : entry_(entry_of(GetParam().name)) {
    const ConfigValue table = config_from_json(GetParam().options, "test");
    options_ = resolve(entry_.options, &table, entry_.name);
  }
  MixerContext context(std::int64_t length) const { return {kWidth, length, 0, 2}; }
  MixerPointer build(std::int64_t length) const {
    torch::manual_seed(1);
    MixerPointer mixer = build_mixer(entry_, context(length), options_);
    for (auto& parameter : mixer->parameters()) parameter.data().normal_(0, 0.3);
    return mixer;
  }
  static torch::Tensor forward(Mixer& mixer, const torch::Tensor& x) {
    Pass pass = Pass::evaluation();
    return mixer.forward(x, pass);
  }

  const MixerEntry& entry_;
  Options options_;
};

TEST_P(Mixers, KeepShape) {
  for (const std::int64_t length : {1, 2, 7}) {
    const torch::Tensor x = torch::randn({3, length, kWidth});
    EXPECT_EQ(forward(*build(length), x).sizes(), x.sizes()) << "L = " << length;
  }
}

TEST_P(Mixers, AreCausalToTheBit) {
  const std::int64_t L = 9;
  const MixerPointer mixer = build(L);
  const torch::Tensor x = torch::randn({2, L, kWidth});
  const torch::Tensor before = forward(*mixer, x);
  bool looked_ahead = false;
  for (std::int64_t t = 0; t < L; ++t) {
    torch::Tensor changed = x.clone();
    changed.select(1, t).add_(1.0);
    const torch::Tensor after = forward(*mixer, changed);
    looked_ahead = looked_ahead || !torch::equal(before.narrow(1, 0, t), after.narrow(1, 0, t));
    EXPECT_FALSE(torch::equal(before.select(1, t), after.select(1, t))) << "token " << t << " has no effect on its output";
  }
  EXPECT_EQ(looked_ahead, !entry_.causal(options_));
}

TEST_P(Mixers, KnowOrderAsDeclared) {
  const std::int64_t L = 6;
  const MixerPointer mixer = build(L);
  const torch::Tensor x = torch::randn({1, L, kWidth});
  const torch::Tensor swapped = x.index_select(1, torch::tensor({2, 0, 1, 4, 3, 5}));
  // The last token sees the others as a set unless the mixer knows their order.
  const double change = (forward(*mixer, x) - forward(*mixer, swapped)).select(1, L - 1).abs().max().item<double>();
  if (entry_.knows_order(options_)) EXPECT_GT(change, 1e-3);
  else EXPECT_LT(change, 1e-5);
}

TEST_P(Mixers, GradientsAreDerivatives) {
  const MixerPointer mixer = build(5);
  mixer->to(torch::kFloat64);
  torch::Tensor x = torch::randn({2, 5, kWidth}, torch::kFloat64).requires_grad_(true);
  const torch::Tensor direction = torch::randn_like(x);
  (forward(*mixer, x) * direction).sum().backward();

  const torch::NoGradGuard guard;
  const auto slope = [&](torch::Tensor& variable, const torch::Tensor& along) {
    const double h = 1e-6;
    variable.add_(along, h);
    const double up = (forward(*mixer, x) * direction).sum().item<double>();
    variable.add_(along, -2 * h);
    const double down = (forward(*mixer, x) * direction).sum().item<double>();
    variable.add_(along, h);
    return (up - down) / (2 * h);
  };
  auto variables = mixer->parameters();
  variables.push_back(x);
  for (torch::Tensor& variable : variables) {
    const torch::Tensor along = torch::randn_like(variable);
    const double expected = (variable.grad() * along).sum().item<double>();
    EXPECT_NEAR(slope(variable, along), expected, 1e-6 * (1 + std::abs(expected)));
  }
}

using NamedTensors = std::vector<std::pair<std::string, torch::Tensor>>;

// Output and every gradient along `direction`, as doubles.
NamedTensors derivatives(Mixer& mixer, const torch::Tensor& x, const torch::Tensor& direction) {
  torch::Tensor input = x.clone().requires_grad_(true);
  Pass pass = Pass::evaluation();
  const torch::Tensor y = mixer.forward(input, pass);
  mixer.zero_grad();
  y.backward(direction);
  NamedTensors result = {{"output", y.detach().to(torch::kFloat64)}, {"input", input.grad().to(torch::kFloat64)}};
  for (const auto& item : mixer.named_parameters()) {
    // A parameter that plays no part at this length (a decay, with one token) has no gradient.
    const torch::Tensor gradient = item.value().grad();
    result.emplace_back(item.key(), gradient.defined() ? gradient.to(torch::kFloat64).clone()
                                                       : torch::zeros_like(item.value(), torch::kFloat64));
  }
  return result;
}

double largest(const torch::Tensor& tensor) { return tensor.abs().max().item<double>(); }

// Of the largest value in the tensor.
constexpr double kKernelTolerance = 3e-5;
// Where a gradient is a difference of nearly equal numbers, both paths lose digits: then the kernel may be
// this much further from the truth (the composed path in double) than the composed path in float32.
constexpr double kCancellation = 4;

TEST_P(Mixers, KernelsEqualComposedOperations) {
  for (const std::int64_t length : {1, 2, 7, 40}) {
    const MixerPointer mixer = build(length);
    const torch::Tensor x = torch::randn({3, length, kWidth});
    const torch::Tensor direction = torch::randn_like(forward(*mixer, x).detach());
    const NamedTensors kernels = derivatives(*mixer, x, direction);
    const ScopedComposed guard;
    const NamedTensors composed = derivatives(*mixer, x, direction);
    mixer->to(torch::kFloat64);
    for (auto& parameter : mixer->parameters()) parameter.mutable_grad() = torch::Tensor();
    const NamedTensors truth = derivatives(*mixer, x.to(torch::kFloat64), direction.to(torch::kFloat64));
    double overall = 0;
    for (const auto& [name, tensor] : truth) overall = std::max(overall, largest(tensor));
    for (std::size_t i = 0; i < truth.size(); ++i) {
      // One unit of rounding of the largest number: what a gradient that is zero in theory may show.
      const double allowed = std::max({kKernelTolerance * largest(truth[i].second),
                                       kCancellation * largest(composed[i].second - truth[i].second), 0x1p-23 * overall});
      EXPECT_LE(largest(kernels[i].second - truth[i].second), allowed) << truth[i].first << " at L = " << length;
    }
  }
}

TEST_P(Mixers, StepEqualsForward) {
  const torch::NoGradGuard guard;
  const std::int64_t L = 9;
  const MixerPointer mixer = build(L);
  if (!mixer->has_step()) {
    EXPECT_FALSE(entry_.causal(options_)) << "a causal mixer without a step";
    return;
  }
  const torch::Tensor x = torch::randn({2, L, kWidth});
  const torch::Tensor whole = forward(*mixer, x);
  // Products of matrices grow: rounding is measured by the largest value.
  const double tolerance = 1e-5 * std::max(1.0, whole.abs().max().item<double>());
  MixerState state = mixer->initial_state(2);
  for (std::int64_t t = 0; t < L; ++t) {
    const torch::Tensor y = mixer->step(state, x.select(1, t));
    EXPECT_LT((y - whole.select(1, t)).abs().max().item<double>(), tolerance) << "token " << t;
  }
  EXPECT_EQ(state.size(), entry_.state(context(L), options_)) << "declared state is not what a step carries";
}

TEST_P(Mixers, CountsAreRight) {
  std::int64_t count = 0;
  for (const auto& parameter : build(6)->parameters()) count += parameter.numel();
  EXPECT_EQ(count, entry_.parameters(context(6), options_));
}

std::string test_name(const ::testing::TestParamInfo<MixerCase>& info) {
  std::string name = info.param.name;
  for (const auto& [key, value] : info.param.options.items()) name += "_" + key + value.dump();
  std::erase_if(name, [](char c) { return !std::isalnum(static_cast<unsigned char>(c)) && c != '_'; });
  return name;
}

INSTANTIATE_TEST_SUITE_P(List, Mixers, ::testing::ValuesIn(cases()), test_name);

TEST(MixerList, CatalogAndModulesAreTheSame) {
  std::vector<std::string> catalog, modules = buildable_mixers();
  for (const auto* list : {&mixer_catalog(), &state_mixer_catalog()})
    for (const MixerEntry& entry : *list) catalog.push_back(entry.name);
  std::sort(catalog.begin(), catalog.end());
  std::sort(modules.begin(), modules.end());
  EXPECT_EQ(catalog, modules);
}

}  // namespace
}  // namespace mneme
