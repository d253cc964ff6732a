#include "train/loss_head.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "core/error.h"
#include "kernels/dense/softmax_head.h"
#include "ops/operation.h"
#include "ops/profile.h"

namespace mneme::train {
namespace {

// Under which name it is reported.
struct SoftmaxHead {};

HeadResult run(const torch::Tensor& rows, const torch::Tensor& matrix, const torch::Tensor& bias,
               std::span<const std::int32_t> answers, const kernels::SoftmaxHeadGradients* gradients) {
  const ops::Part part("head");
  const ops::Report report(typeid(SoftmaxHead), rows, matrix);
  const auto size = [](const torch::Tensor& tensor, std::int64_t at) {
    return static_cast<std::size_t>(tensor.size(at));
  };
  require(size(rows, 0) == answers.size(), "one answer per row");
  HeadResult result;
  result.predictions.resize(answers.size());
  std::vector<float> losses(answers.size());
  kernels::softmax_head({size(rows, 0), size(rows, 1), size(matrix, 0), rows.data_ptr<float>(),
                         matrix.data_ptr<float>(), bias.defined() ? bias.data_ptr<float>() : nullptr, answers.data()},
                        losses.data(), result.predictions.data(), gradients);
  for (const float loss : losses) result.loss_sum += loss;
  for (std::size_t r = 0; r < answers.size(); ++r) result.correct += result.predictions[r] == answers[r];
  return result;
}

// Eight sums side by side, so that they are computed as vectors.
float dot(const float* a, const float* b, std::size_t count) {
  constexpr std::size_t kLanes = 8;
  float sums[kLanes] = {};
  std::size_t i = 0;
  for (; i + kLanes <= count; i += kLanes)
    for (std::size_t j = 0; j < kLanes; ++j) sums[j] += a[i + j] * b[i + j];
  float total = std::accumulate(sums, sums + kLanes, 0.0F);
  for (; i < count; ++i) total += a[i] * b[i];
  return total;
}

// A row's largest logit is that of its prediction: one product a row finds it again.
double largest_logit(const torch::Tensor& rows, const torch::Tensor& matrix, const torch::Tensor& bias,
                     std::span<const std::int32_t> predictions) {
  double largest = -std::numeric_limits<double>::infinity();
  const auto D = static_cast<std::size_t>(rows.size(1));
  for (std::size_t r = 0; r < predictions.size(); ++r) {
    if (predictions[r] < 0) return std::numeric_limits<double>::quiet_NaN();
    const auto v = static_cast<std::size_t>(predictions[r]);
    const float *h = rows.data_ptr<float>() + r * D, *w = matrix.data_ptr<float>() + v * D;
    const float logit = dot(h, w, D) + (bias.defined() ? bias.data_ptr<float>()[v] : 0.0F);
    largest = std::max(largest, static_cast<double>(logit));
  }
  return largest;
}

}  // namespace

HeadResult evaluate_head(const torch::Tensor& rows, const torch::Tensor& matrix, const torch::Tensor& bias,
                         std::span<const std::int32_t> answers) {
  return run(rows.contiguous(), matrix, bias, answers, nullptr);
}

HeadResult train_head(const torch::Tensor& rows, const torch::Tensor& matrix, const torch::Tensor& bias,
                      std::span<const std::int32_t> answers, double scale, torch::Tensor& rows_gradient) {
  rows_gradient = torch::empty(rows.sizes(), rows.options());
  const kernels::SoftmaxHeadGradients gradients{static_cast<float>(scale), rows_gradient.data_ptr<float>(),
                                                matrix.grad().data_ptr<float>(),
                                                bias.defined() ? bias.grad().data_ptr<float>() : nullptr};
  const torch::Tensor h = rows.contiguous();
  HeadResult result = run(h, matrix, bias, answers, &gradients);
  result.largest = largest_logit(h, matrix, bias, result.predictions);
  return result;
}

}  // namespace mneme::train
