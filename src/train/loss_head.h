// Cross-entropy on the labelled positions only (kernels/dense/softmax_head.h): a [tokens, vocabulary] matrix never
// exists. Off the CPU the same is done in tensor operations, for blocks of rows.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ops/torch.h"

namespace mneme::train {

struct HeadResult {
  double loss_sum = 0;       // over rows, in row order
  std::int64_t correct = 0;  // rows whose prediction is the answer
  double largest = 0;        // of training: the largest logit of all rows; NaN if a row has none
  std::vector<std::int32_t> predictions;
};

// Loss and predictions of rows h [R, D] (no gradient recorded) against answers [R], by logits = h matrix^T + bias; the
// matrix is [V, D], the bias [V] or undefined.
HeadResult evaluate_head(const torch::Tensor& rows, const torch::Tensor& matrix, const torch::Tensor& bias,
                         std::span<const std::int32_t> answers);

// The same, and the gradient of scale * sum of losses: returned for the rows, added to the grad() of matrix and bias.
HeadResult train_head(const torch::Tensor& rows, const torch::Tensor& matrix, const torch::Tensor& bias,
                      std::span<const std::int32_t> answers, double scale, torch::Tensor& rows_gradient);

}  // namespace mneme::train
