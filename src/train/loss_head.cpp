#include "train/loss_head.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>

#include "core/error.h"
#include "kernels/dense/softmax_head.h"
#include "ops/operation.h"
#include "ops/profile.h"

namespace mneme::train {
namespace {

// Off the CPU so many logits exist at a time, at most.
constexpr std::int64_t kLogitsAtATime = 1 << 24;

// Under which name it is reported.
struct SoftmaxHead {};

struct TensorGradients {
  double scale;
  torch::Tensor rows, matrix, bias;  // set for the rows, added to for the others
};

// The kernel's formulas in tensor operations, for some rows. The answers are on the device of the rows.
torch::Tensor composed_losses(const torch::Tensor& rows, const torch::Tensor& matrix, const torch::Tensor& bias,
                              const torch::Tensor& answers, torch::Tensor& predictions, torch::Tensor& largest,
                              TensorGradients* gradients) {
  const torch::Tensor logits = torch::linear(rows, matrix, bias), labels = answers.unsqueeze(1);  // [R, V], [R, 1]
  const torch::Tensor logs = torch::log_softmax(logits, 1);
  predictions = logits.argmax(1);
  if (gradients) {
    largest = logits.max();
    torch::Tensor dz = torch::exp(logs);
    dz.scatter_add_(1, labels, torch::full_like(labels, -1.0, dz.options())).mul_(gradients->scale);
    gradients->rows.copy_(torch::matmul(dz, matrix));
    gradients->matrix.addmm_(dz.t(), rows);
    if (bias.defined()) gradients->bias.add_(dz.sum(0));
  }
  return -logs.gather(1, labels).squeeze(1);
}

// Off the CPU. Losses and predictions come back once for a block of rows.
HeadResult run_composed(const torch::Tensor& rows, const torch::Tensor& matrix, const torch::Tensor& bias,
                        std::span<const std::int32_t> answers, TensorGradients* gradients) {
  const torch::NoGradGuard guard;
  HeadResult result;
  const torch::Tensor labels =
      torch::tensor(at::ArrayRef<std::int32_t>(answers.data(), answers.size()), torch::kInt64).to(rows.device());
  const std::int64_t R = rows.size(0), block = std::max<std::int64_t>(1, kLogitsAtATime / matrix.size(0));
  for (std::int64_t first = 0; first < R; first += block) {
    const auto of = [&](const torch::Tensor& all) { return all.narrow(0, first, std::min(block, R - first)); };
    std::optional<TensorGradients> part;
    if (gradients) part = {gradients->scale, of(gradients->rows), gradients->matrix, gradients->bias};
    torch::Tensor predictions, largest;
    const torch::Tensor losses =
        composed_losses(of(rows), matrix, bias, of(labels), predictions, largest, part ? &*part : nullptr).cpu();
    // Not std::max, which would forget a NaN.
    if (const double most = part ? largest.item<double>() : 0.0; first == 0 || !(most <= result.largest))
      result.largest = most;
    const torch::Tensor chosen = predictions.to(torch::kInt32).cpu();
    for (std::int64_t r = 0; r < losses.size(0); ++r) {
      result.loss_sum += losses.data_ptr<float>()[r];
      result.predictions.push_back(chosen.data_ptr<std::int32_t>()[r]);
    }
  }
  for (std::size_t r = 0; r < answers.size(); ++r) result.correct += result.predictions[r] == answers[r];
  return result;
}

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
  if (!rows.is_cpu()) return run_composed(rows, matrix, bias, answers, nullptr);
  return run(rows.contiguous(), matrix, bias, answers, nullptr);
}

HeadResult train_head(const torch::Tensor& rows, const torch::Tensor& matrix, const torch::Tensor& bias,
                      std::span<const std::int32_t> answers, double scale, torch::Tensor& rows_gradient) {
  rows_gradient = torch::empty(rows.sizes(), rows.options());
  if (!rows.is_cpu()) {
    TensorGradients gradients{scale, rows_gradient, matrix.grad(), bias.defined() ? bias.grad() : torch::Tensor()};
    return run_composed(rows, matrix, bias, answers, &gradients);
  }
  const kernels::SoftmaxHeadGradients gradients{static_cast<float>(scale), rows_gradient.data_ptr<float>(),
                                                matrix.grad().data_ptr<float>(),
                                                bias.defined() ? bias.grad().data_ptr<float>() : nullptr};
  const torch::Tensor h = rows.contiguous();
  HeadResult result = run(h, matrix, bias, answers, &gradients);
  result.largest = largest_logit(h, matrix, bias, result.predictions);
  return result;
}

}  // namespace mneme::train
