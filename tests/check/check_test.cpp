// The one parametrised test of every mixer: it is what `mneme check` runs. And mixers with planted faults,
// each of which one check must find.
#include "check/check.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/error.h"
#include "mixers/all_cases.h"
#include "mixers/declaration.h"
#include "ops/path.h"

namespace mneme::check {
namespace {

using testing::MixerCase;

struct Examination {
  MixerCase mixer;
  std::int64_t width;
};

void PrintTo(const Examination& examination, std::ostream* out) {
  *out << examination.mixer.name << " " << examination.mixer.options.dump() << " width " << examination.width;
}

// Every mixer at its defaults, and the options that change its structure; below and above a vector's width.
std::vector<Examination> examinations() {
  std::vector<Examination> result;
  for (const MixerCase& mixer : testing::all_mixer_cases()) result.push_back({mixer, 8});
  for (const catalog::MixerEntry& entry : catalog::mixer_catalog())
    result.push_back({{entry.name, Json::object()}, 24});
  return result;
}

class EveryMixer : public ::testing::TestWithParam<Examination> {};

TEST_P(EveryMixer, PassesItsChecks) {
  const auto& [mixer, width] = GetParam();
  const Subject subject = Subject::of_list(mixer.name, mixer.options, width);
  for (const Check& check : mixer_checks()) {
    const Finding finding = run_check(check, subject);
    EXPECT_NE(finding.verdict, Finding::Verdict::failed) << check.name << ": " << finding.detail;
  }
}

std::string test_name(const ::testing::TestParamInfo<Examination>& info) {
  return testing::case_name(info.param.mixer) + "_width" + std::to_string(info.param.width);
}

INSTANTIATE_TEST_SUITE_P(List, EveryMixer, ::testing::ValuesIn(examinations()), test_name);

TEST(MixerList, CatalogAndModulesAreTheSame) {
  std::vector<std::string> catalog, modules = mixers::buildable_mixers();
  for (const auto* list : {&catalog::mixer_catalog(), &catalog::state_mixer_catalog()})
    for (const catalog::MixerEntry& entry : *list) catalog.push_back(entry.name);
  std::sort(catalog.begin(), catalog.end());
  std::sort(modules.begin(), modules.end());
  EXPECT_EQ(catalog, modules);
}

// A running mean of linear features, right in everything unless told otherwise.
enum class Fault {
  none,
  looks_ahead,
  wrong_gradient,
  wrong_kernel,
  wrong_step,
  hidden_state,
  square_memory,
  square_time,
  time_loop,
  select_loop
};

// Identity whose gradient is scaled: what a wrong hand-written backward pass looks like.
struct Scaled : torch::autograd::Function<Scaled> {
  static torch::Tensor forward(torch::autograd::AutogradContext*, const torch::Tensor& x) { return x.clone(); }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext*,
                                                 torch::autograd::variable_list gradients) {
    return {gradients[0] * 1.001};
  }
};

// The sum so far, recomputed for every token as a kernel without a state would: its one operation writes what cumsum
// writes. A sixteenth of the features is enough to see it.
struct SquareSum : torch::autograd::Function<SquareSum> {
  static torch::Tensor forward(torch::autograd::AutogradContext*, const torch::Tensor& y) {
    torch::Tensor sums = y.cumsum(1).contiguous();
    const torch::Tensor from = y.contiguous();
    const std::int64_t length = y.size(1), width = y.size(2), some = std::min<std::int64_t>(width, 4);
    for (std::int64_t b = 0; b < y.size(0); ++b)
      for (std::int64_t t = 0; t < length; ++t)
        for (std::int64_t i = 0; i < some; ++i) {
          const float* value = from.data_ptr<float>() + b * length * width + i;
          float sum = 0;
          for (std::int64_t s = 0; s <= t; ++s) sum += value[s * width];
          sums.data_ptr<float>()[(b * length + t) * width + i] = sum;
        }
    return sums;
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext*,
                                                 torch::autograd::variable_list gradients) {
    return {gradients[0].flip(1).cumsum(1).flip(1)};
  }
};

class RunningMean : public mixers::Mixer {
 public:
  RunningMean(std::int64_t width, Fault fault) : fault_(fault) {
    linear_ = register_module("linear", torch::nn::Linear(width, width));
  }

  torch::Tensor forward(const torch::Tensor& x, nn::Pass&) override {
    torch::Tensor y = linear_->forward(x);
    const torch::Tensor count = torch::arange(1, x.size(1) + 1, x.options()).unsqueeze(-1);
    torch::Tensor mean = summed(y) / count;
    if (fault_ == Fault::looks_ahead) mean = mean + 1e-6 * y.mean(1, true);
    if (fault_ == Fault::wrong_gradient) mean = Scaled::apply(mean);
    if (fault_ == Fault::wrong_kernel && ops::use_kernels(x)) mean = mean * 1.001;
    if (fault_ == Fault::square_memory) mean = mean + 0.0 * torch::bmm(y, y.transpose(1, 2)).sum(-1, true);
    return mean;
  }
  bool has_step() const override { return true; }
  mixers::MixerState initial_state(std::int64_t batch) const override {
    return {
        {torch::zeros({batch, linear_->weight.size(0)}), torch::zeros({batch, fault_ == Fault::hidden_state ? 2 : 1})}};
  }
  torch::Tensor step(mixers::MixerState& state, const torch::Tensor& x) override {
    state.tensors[0] = state.tensors[0] + linear_->forward(x);
    state.tensors[1] = state.tensors[1] + 1;
    const torch::Tensor mean = state.tensors[0] / state.tensors[1].narrow(1, 0, 1);
    return fault_ == Fault::wrong_step ? mean * 1.001 : mean;
  }

 private:
  torch::Tensor summed(const torch::Tensor& y) const {
    if (fault_ == Fault::time_loop || fault_ == Fault::select_loop) return looped(y);
    return fault_ == Fault::square_time && y.scalar_type() == torch::kFloat ? SquareSum::apply(y) : y.cumsum(1);
  }
  // cumsum as a person writes it first.
  torch::Tensor looped(const torch::Tensor& y) const {
    const std::vector<torch::Tensor> tokens = y.unbind(1);
    std::vector<torch::Tensor> sums;
    torch::Tensor sum = torch::zeros_like(tokens[0]);
    for (std::int64_t t = 0; t < y.size(1); ++t)
      sums.push_back(sum = sum + (fault_ == Fault::select_loop ? y.select(1, t) : tokens[static_cast<std::size_t>(t)]));
    return torch::stack(sums, 1);
  }

  Fault fault_;
  torch::nn::Linear linear_{nullptr};
};

const catalog::MixerEntry& running_mean_entry() {
  static const catalog::MixerEntry entry = {
      .name = "running_mean",
      .family = "test",
      .summary = "the mean of all tokens so far",
      .citation = "none",
      .options = {},
      .parameters = [](const catalog::MixerContext& c, const Options&) { return c.width * (c.width + 1); },
      .state = [](const catalog::MixerContext& c, const Options&) { return c.width + 1; },
      .flops = [](const catalog::MixerContext& c,
                  const Options&) { return 2.0 * static_cast<double>(c.length * c.width * c.width); },
      .knows_order = [](const Options&) { return false; },
      .causal = [](const Options&) { return true; },
      .validate = [](const catalog::MixerContext&, const Options&) {},
  };
  return entry;
}

Subject subject_with(Fault fault) {
  return {&running_mean_entry(), Options(), 16,
          [fault](const catalog::MixerContext& context, const Options&) -> mixers::MixerPointer {
            return std::make_shared<RunningMean>(context.width, fault);
          }};
}

std::vector<std::string> failures(Fault fault) {
  const Subject subject = subject_with(fault);
  std::vector<std::string> result;
  for (const Check& check : mixer_checks())
    if (run_check(check, subject).verdict == Finding::Verdict::failed) result.push_back(check.name);
  return result;
}

TEST(PlantedFaults, AreFoundByTheCheckTheyBelongTo) {
  using Names = std::vector<std::string>;
  EXPECT_EQ(failures(Fault::none), Names{});
  EXPECT_EQ(failures(Fault::looks_ahead).front(), "causality");
  EXPECT_EQ(failures(Fault::wrong_gradient), Names{"gradient"});
  EXPECT_EQ(failures(Fault::wrong_kernel).front(), "kernels");
  EXPECT_EQ(failures(Fault::wrong_step), Names{"step"});
  EXPECT_EQ(failures(Fault::hidden_state), Names{"state"});
  EXPECT_EQ(failures(Fault::square_memory).front(), "memory");
  EXPECT_EQ(failures(Fault::square_time), Names{}) << "the clock alone finds it";
}

TEST(CheckCost, PassesAComposedTimeLoopAndNamesTheCauseOfASquareOne) {
  const Finding loop = check_cost(subject_with(Fault::time_loop));
  EXPECT_EQ(loop.verdict, Finding::Verdict::passed) << loop.detail;
  const Finding square = check_cost(subject_with(Fault::select_loop));
  EXPECT_EQ(square.verdict, Finding::Verdict::failed) << square.detail;
  EXPECT_NE(square.detail.find("unbind(1)"), std::string::npos) << square.detail;
}

TEST(CheckCost, FindsAKernelWhoseTimeIsSquareAndWhoseMemoryIsNot) {
  const Finding square = check_cost(subject_with(Fault::square_time));
  EXPECT_EQ(square.verdict, Finding::Verdict::failed) << square.detail;
  EXPECT_EQ(square.detail.substr(0, 2), "L^") << square.detail;
  RecordProperty("exponent", square.detail);
}

TEST(Declaration, AMixerThatDeclaresWrongNumbersIsNotTrained) {
  const RunningMean mixer(16, Fault::none), hiding(16, Fault::hidden_state);
  const catalog::MixerContext context{.width = 16, .length = 8};
  catalog::MixerEntry entry = running_mean_entry();
  mixers::hold_to_declaration(mixer, entry, context, Options());
  EXPECT_THROW(mixers::hold_to_declaration(hiding, entry, context, Options()), Error) << "state";
  entry.parameters = [](const catalog::MixerContext& c, const Options&) { return c.width * c.width; };
  EXPECT_THROW(mixers::hold_to_declaration(mixer, entry, context, Options()), Error) << "parameters";
}

TEST(PlantedFaults, AWrongDeclarationIsFound) {
  catalog::MixerEntry entry = running_mean_entry();
  entry.parameters = [](const catalog::MixerContext& c, const Options&) { return c.width * c.width; };
  entry.knows_order = [](const Options&) { return true; };
  const Subject subject{&entry, Options(), 16,
                        [](const catalog::MixerContext& context, const Options&) -> mixers::MixerPointer {
                          return std::make_shared<RunningMean>(context.width, Fault::none);
                        }};
  EXPECT_EQ(check_parameters(subject).verdict, Finding::Verdict::failed);
  EXPECT_EQ(check_order(subject).verdict, Finding::Verdict::failed);
}

TEST(Check, AnExceptionIsAFailureWithItsMessage) {
  const Check broken = {"broken", "", [](const Subject&) -> Finding { throw std::runtime_error("no such luck"); }};
  const Finding finding = run_check(broken, Subject::of_list("mlp", Json::object(), 8));
  EXPECT_EQ(finding.verdict, Finding::Verdict::failed);
  EXPECT_EQ(finding.detail, "no such luck");
}

}  // namespace
}  // namespace mneme::check
