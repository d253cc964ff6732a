#include "kernels/dense/softmax_head.h"

#include <gtest/gtest.h>

#include <functional>

#include "kernels/kernel_arrays.h"
#include "kernels/targets.h"

namespace mneme::kernels {
namespace {

using mneme::testing::GuardedArray;
using mneme::testing::relative_error;

// Worst seen: 2.8e-6.
constexpr double kTolerance = 1e-5;

struct Sizes {
  std::size_t R, D, V;
};

struct Result {
  std::vector<float> losses, dh, dweight, dbias;
  std::vector<std::int32_t> predictions;
  bool margins;
  double sum_of_rows;  // of |h| over rows, at most
};

using Kernel = std::function<void(const SoftmaxHeadInput&, float*, std::int32_t*, const SoftmaxHeadGradients*)>;

Result run(
    const Kernel& kernel, const Sizes& s, std::size_t shift, bool gradient = true,
    const std::function<void(GuardedArray& h, GuardedArray& weight)>& prepare = [](GuardedArray&, GuardedArray&) {}) {
  GuardedArray h(s.R * s.D, shift), weight(s.V * s.D, shift), bias(s.V, shift), losses(s.R, shift),
      dh(s.R * s.D, shift);
  h.fill_normal(1);
  weight.fill_normal(2);
  bias.fill_normal(3);
  prepare(h, weight);
  GuardedArray dweight(s.V * s.D, shift), dbias(s.V, shift);  // added to
  dweight.fill_normal(4, 0.01);
  dbias.fill_normal(5, 0.01);
  std::vector<std::int32_t> labels, predictions(s.R, -7);
  for (std::size_t r = 0; r < s.R; ++r) labels.push_back(static_cast<std::int32_t>((r * 37 + 1) % s.V));
  const SoftmaxHeadGradients gradients{0.25F, dh.data(), dweight.data(), dbias.data()};
  kernel({s.R, s.D, s.V, h.data(), weight.data(), bias.data(), labels.data()}, losses.data(), predictions.data(),
         gradient ? &gradients : nullptr);
  double sum_of_rows = 0;
  for (std::size_t i = 0; i < s.D; ++i) {
    double sum = 0;
    for (std::size_t r = 0; r < s.R; ++r) sum += std::abs(h[r * s.D + i]);
    sum_of_rows = std::max(sum_of_rows, sum);
  }
  return {losses.values(),
          dh.values(),
          dweight.values(),
          dbias.values(),
          predictions,
          losses.margins_intact() && dh.margins_intact() && dweight.margins_intact() && dbias.margins_intact(),
          sum_of_rows};
}

// Of a sum over rows. With one or two classes its terms, at most scale * |h| each, may cancel: then the error is one of
// a hundredth of their sum, of which kTolerance is what rounding leaves.
double error_of_weights(const Result& ours, const Result& reference) {
  double largest = 0;
  for (const float x : reference.dweight) largest = std::max(largest, static_cast<double>(std::abs(x)));
  const double terms = 0.25 * reference.sum_of_rows;
  return relative_error(ours.dweight, reference.dweight) * largest / std::max(largest, terms / 100);
}

double error(const Kernel& kernel, const Sizes& s, std::size_t shift) {
  const Result ours = run(kernel, s, shift), reference = run(softmax_head_reference, s, shift);
  if (!ours.margins || ours.predictions != reference.predictions) return INFINITY;
  return std::max({relative_error(ours.losses, reference.losses), relative_error(ours.dh, reference.dh),
                   error_of_weights(ours, reference), relative_error(ours.dbias, reference.dbias)});
}

KERNEL_TEST(KernelsSoftmaxHead, AgreesWithReference) {
  for (const std::size_t V : {1, 2, 17, 32, 33, 255, 256, 257, 600})
    for (const std::size_t D : {1, 12, 16, 33})
      for (const std::size_t R : {1, 5, 29}) {
        const double found = error(softmax_head, {R, D, V}, V % 3);
        EXPECT_LE(found, kTolerance) << R << ' ' << D << ' ' << V;
      }
}

KERNEL_TEST(KernelsSoftmaxHead, AgreesWithReferenceOverSeveralPasses) {
  for (const std::size_t R : {252, 253, 520}) EXPECT_LE(error(softmax_head, {R, 8, 300}, 1), kTolerance) << R;
}

KERNEL_TEST(KernelsSoftmaxHead, AgreesWithReferenceWhereLabelsAreHopeless) {
  // Logits up to hundreds: the probability of a label is 1 in some rows, and no float is small enough for it in others.
  const auto far = [](GuardedArray& h, GuardedArray&) {
    for (std::size_t i = 0; i < 29 * 8; ++i) h[i] *= 40;
  };
  const Sizes s{29, 8, 600};
  const Result ours = run(softmax_head, s, 1, true, far), reference = run(softmax_head_reference, s, 1, true, far);
  EXPECT_GT(*std::max_element(reference.losses.begin(), reference.losses.end()), 100);
  EXPECT_LE(relative_error(ours.losses, reference.losses), kTolerance);
  EXPECT_LE(relative_error(ours.dh, reference.dh), kTolerance);
  EXPECT_LE(relative_error(ours.dweight, reference.dweight), kTolerance);
  EXPECT_LE(relative_error(ours.dbias, reference.dbias), kTolerance);
}

KERNEL_TEST(KernelsSoftmaxHead, EvaluationLeavesTheSameLossAndPrediction) {
  const Result with = run(softmax_head, {5, 8, 300}, 1), without = run(softmax_head, {5, 8, 300}, 1, false);
  EXPECT_EQ(with.losses, without.losses);
  EXPECT_EQ(with.predictions, without.predictions);
}

KERNEL_TEST(KernelsSoftmaxHead, FirstOfEqualMaximaIsPredicted) {
  // Three equal classes, in two blocks; their logits are 1000 whatever the bias.
  const auto equal = [](GuardedArray& h, GuardedArray& weight) {
    h[0] = 1e4F;
    for (const std::size_t v : {11, 12, 290}) weight[v] = 10;
  };
  for (const Kernel& kernel : {Kernel(softmax_head), Kernel(softmax_head_reference)}) {
    const auto no_bias = [&](SoftmaxHeadInput in, float* losses, std::int32_t* predictions,
                             const SoftmaxHeadGradients* to) {
      in.bias = nullptr;
      kernel(in, losses, predictions, to);
    };
    EXPECT_EQ(run(no_bias, {1, 1, 300}, 0, true, equal).predictions[0], 11);
  }
}

KERNEL_TEST(KernelsSoftmaxHead, NonFiniteRowsAreReportedAndOthersUntouched) {
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()})
    for (const Kernel& kernel : {Kernel(softmax_head), Kernel(softmax_head_reference)}) {
      const Result result = run(kernel, {3, 1, 300}, 0, true, [&](GuardedArray& h, GuardedArray&) { h[1] = bad; });
      EXPECT_TRUE(std::isnan(result.losses[1]) && std::isnan(result.dh[1]));
      EXPECT_EQ(result.predictions[1], -1);
      EXPECT_TRUE(std::isfinite(result.losses[0]) && std::isfinite(result.losses[2]));
      EXPECT_TRUE(std::isfinite(result.dh[0]) && std::isfinite(result.dh[2]));
    }
}

TEST(KernelsSoftmaxHead, ReferenceGradientIsTheDerivativeOfItsLoss) {
  // Central differences in float32: steps of 1e-2 leave about 1e-4 of error.
  const Sizes s{2, 3, 9};
  const Result base = run(softmax_head_reference, s, 0);
  for (std::size_t i = 0; i < s.R * s.D; ++i) {
    const auto loss = [&](float by) {
      const Result moved =
          run(softmax_head_reference, s, 0, false, [&](GuardedArray& h, GuardedArray&) { h[i] += by; });
      return moved.losses[0] + moved.losses[1];
    };
    EXPECT_NEAR(base.dh[i], 0.25 * (loss(1e-2F) - loss(-1e-2F)) / 2e-2, 3e-4) << i;
  }
}

KERNEL_TEST(KernelsSoftmaxHead, PlantedFaultsAreRejected) {
  const Kernel forgotten_scale = [](const SoftmaxHeadInput& in, float* losses, std::int32_t* predictions,
                                    const SoftmaxHeadGradients* to) {
    SoftmaxHeadGradients other = *to;
    other.scale = 1;
    softmax_head(in, losses, predictions, &other);
  };
  const Kernel skipped_class = [](SoftmaxHeadInput in, float* losses, std::int32_t* predictions,
                                  const SoftmaxHeadGradients* to) {
    --in.V;
    softmax_head(in, losses, predictions, to);
  };
  const Kernel overwritten = [](const SoftmaxHeadInput& in, float* losses, std::int32_t* predictions,
                                const SoftmaxHeadGradients* to) {
    std::fill_n(to->dweight, in.V * in.D, 0.0F);
    softmax_head(in, losses, predictions, to);
  };
  for (const Kernel& wrong : {forgotten_scale, skipped_class, overwritten})
    EXPECT_GT(error(wrong, {4, 5, 65}, 0), kTolerance);
}

}  // namespace
}  // namespace mneme::kernels
