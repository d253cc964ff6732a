#include "train/loss_head.h"

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
  return run(rows.contiguous(), matrix, bias, answers, &gradients);
}

}  // namespace mneme::train
