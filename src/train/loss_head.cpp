#include "train/loss_head.h"

#include <algorithm>

#include "core/error.h"
#include "kernels/cross_entropy.h"
#include "mixers/profile.h"

namespace mneme {
namespace {

// Floats of the logits buffer: 4 MiB; docs/performance.md compares it with 1.
constexpr std::int64_t kBufferFloats = 1048576;

}  // namespace

HeadResult LossHead::evaluate(const torch::Tensor& rows, const torch::Tensor& matrix,
                              std::span<const std::int32_t> answers, const torch::Tensor& bias) {
  return run(rows, matrix, answers, 1.0, nullptr, bias);
}

HeadResult LossHead::train(const torch::Tensor& rows, const torch::Tensor& matrix,
                           std::span<const std::int32_t> answers, double scale, torch::Tensor& rows_gradient,
                           const torch::Tensor& bias) {
  return run(rows, matrix, answers, scale, &rows_gradient, bias);
}

HeadResult LossHead::run(const torch::Tensor& rows, const torch::Tensor& matrix, std::span<const std::int32_t> answers,
                         double scale, torch::Tensor* rows_gradient, const torch::Tensor& bias) {
  const Part part("head");
  const torch::NoGradGuard guard;
  const std::int64_t R = rows.size(0), V = matrix.size(0);
  check(static_cast<std::size_t>(R) == answers.size(), "one answer per row");
  const std::int64_t chunk = std::clamp<std::int64_t>(kBufferFloats / V, 16, std::max<std::int64_t>(R, 16));
  if (!logits_.defined() || logits_.size(0) < chunk || logits_.size(1) != V) logits_ = torch::empty({chunk, V});
  if (rows_gradient) *rows_gradient = torch::empty_like(rows);
  losses_.resize(static_cast<std::size_t>(chunk));

  HeadResult result;
  result.predictions.resize(answers.size());
  const torch::Tensor matrix_values = matrix.detach();
  for (std::int64_t first = 0; first < R; first += chunk) {
    const std::int64_t count = std::min(chunk, R - first);
    const torch::Tensor h = rows.narrow(0, first, count);
    torch::Tensor z = logits_.narrow(0, 0, count);
    torch::mm_out(z, h, matrix_values.t());
    if (bias.defined()) z.add_(bias.detach());
    const auto at = static_cast<std::size_t>(first);
    kernels::cross_entropy({.logits = z.data_ptr<float>(),
                            .labels = answers.data() + at,
                            .rows = static_cast<std::size_t>(count),
                            .classes = static_cast<std::size_t>(V),
                            .gradient = rows_gradient != nullptr,
                            .scale = static_cast<float>(scale),
                            .losses = losses_.data(),
                            .predictions = result.predictions.data() + at});
    for (std::int64_t r = 0; r < count; ++r) result.loss_sum += losses_[static_cast<std::size_t>(r)];
    if (!rows_gradient) continue;
    torch::Tensor dh = rows_gradient->narrow(0, first, count);
    torch::mm_out(dh, z, matrix_values);
    torch::Tensor dmatrix = matrix.grad();
    dmatrix.addmm_(z.t(), h);
    if (bias.defined()) bias.grad().add_(z.sum(0));
  }
  for (std::size_t r = 0; r < answers.size(); ++r) result.correct += result.predictions[r] == answers[r];
  return result;
}

}  // namespace mneme
