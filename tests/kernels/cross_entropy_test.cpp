#include "kernels/cross_entropy.h"

#include <gtest/gtest.h>

#include <functional>

#include "kernels/kernel_arrays.h"

namespace mneme::kernels {
namespace {

using mneme::testing::GuardedArray;
using mneme::testing::kSizes;
using mneme::testing::relative_error;

// The worst error was not recorded. The reference works in double.
constexpr double kTolerance = 1e-6;

using Kernel = std::function<void(const CrossEntropyArguments&)>;

struct Result {
  std::vector<float> losses, gradient;
  std::vector<std::int32_t> predictions;
  bool margins;
};

Result run(const Kernel& kernel, std::size_t rows, std::size_t classes, std::size_t shift, bool gradient,
           const std::function<void(GuardedArray&)>& prepare = [](GuardedArray&) {}) {
  GuardedArray logits(rows * classes, shift), losses(rows, shift);
  logits.fill_normal(classes, 3.0);
  prepare(logits);
  std::vector<std::int32_t> labels, predictions(rows, -7);
  for (std::size_t r = 0; r < rows; ++r) labels.push_back(static_cast<std::int32_t>((r * 5 + 1) % classes));
  kernel({logits.data(), labels.data(), rows, classes, gradient, 0.25F, losses.data(), predictions.data()});
  return {losses.values(), logits.values(), predictions, logits.margins_intact() && losses.margins_intact()};
}

bool agrees(const Kernel& kernel, std::size_t classes, std::size_t shift) {
  const Result ours = run(kernel, 3, classes, shift, true), reference = run(cross_entropy_reference, 3, classes, shift, true);
  return ours.margins && ours.predictions == reference.predictions &&
         relative_error(ours.losses, reference.losses) <= kTolerance &&
         relative_error(ours.gradient, reference.gradient) <= kTolerance;
}

TEST(KernelsCrossEntropy, AgreesWithReferenceAtEverySizeAndAlignment) {
  for (const std::size_t classes : kSizes)
    for (const std::size_t shift : {0, 1, 3, 7})
      EXPECT_TRUE(agrees(cross_entropy, classes, shift)) << classes << " classes, shift " << shift;
}

TEST(KernelsCrossEntropy, EvaluationLeavesTheSameLossAndPrediction) {
  const Result with = run(cross_entropy, 5, 100, 1, true), without = run(cross_entropy, 5, 100, 1, false);
  EXPECT_EQ(with.losses, without.losses);
  EXPECT_EQ(with.predictions, without.predictions);
}

TEST(KernelsCrossEntropy, FirstOfEqualMaximaIsPredicted) {
  for (const Kernel& kernel : {Kernel(cross_entropy), Kernel(cross_entropy_reference)}) {
    const Result result = run(kernel, 1, 40, 0, true, [](GuardedArray& z) { z[37] = z[11] = z[12] = 50.0F; });
    EXPECT_EQ(result.predictions[0], 11);
  }
}

TEST(KernelsCrossEntropy, NonFiniteRowsAreReportedAndOthersUntouched) {
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    for (const std::size_t at : {std::size_t{0}, std::size_t{16}, std::size_t{32}}) {
      const auto poison = [&](GuardedArray& z) { z[33 + at] = bad; };  // somewhere in row 1 of 3
      const Result result = run(cross_entropy, 3, 33, 0, true, poison);
      EXPECT_TRUE(std::isnan(result.losses[1]));
      EXPECT_EQ(result.predictions[1], -1);
      EXPECT_TRUE(std::isfinite(result.losses[0]) && std::isfinite(result.losses[2]));
    }
  }
}

TEST(KernelsCrossEntropy, ReferenceGradientIsTheDerivativeOfItsLoss) {
  // Central differences on float32 logits: 1e-2 steps leave about 1e-4 of error.
  const std::size_t classes = 9;
  const Result base = run(cross_entropy_reference, 1, classes, 0, true);
  for (std::size_t v = 0; v < classes; ++v) {
    const auto moved = [&](float by) {
      return run(cross_entropy_reference, 1, classes, 0, false, [&](GuardedArray& z) { z[v] += by; }).losses[0];
    };
    EXPECT_NEAR(base.gradient[v], 0.25 * (moved(1e-2F) - moved(-1e-2F)) / 2e-2, 1e-4);
  }
}

TEST(KernelsCrossEntropy, PlantedFaultsAreRejected) {
  const Kernel zeros = [](const CrossEntropyArguments& a) {
    cross_entropy(a);
    std::fill(a.logits, a.logits + a.rows * a.classes, 0.0F);
  };
  const Kernel skipped_tail = [](const CrossEntropyArguments& a) {
    auto shorter = a;
    shorter.classes = a.classes - 1;
    cross_entropy(shorter);
  };
  const Kernel forgotten_scale = [](const CrossEntropyArguments& a) {
    auto other = a;
    other.scale = 1.0F;
    cross_entropy(other);
  };
  for (const Kernel& wrong : {zeros, skipped_tail, forgotten_scale}) EXPECT_FALSE(agrees(wrong, 65, 0));
}

}  // namespace
}  // namespace mneme::kernels
