// Cross-entropy on the asked positions only.
//
// logits = h E^T + b are computed a few rows at a time in one small buffer that stays in the cache, turned
// into loss, prediction and gradient in one visit, and used at once for both gradients. A
// [tokens, vocabulary] matrix never exists.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "mixers/torch.h"

namespace mneme {

struct HeadResult {
  double loss_sum = 0;       // over rows, in row order
  std::int64_t correct = 0;  // rows whose prediction is the answer
  std::vector<std::int32_t> predictions;
};

class LossHead {
 public:
  // Loss and predictions of rows h [R, D] (contiguous, no gradient recorded) against answers [R]; b [V] may be
  // undefined.
  HeadResult evaluate(const torch::Tensor& rows, const torch::Tensor& matrix, std::span<const std::int32_t> answers,
                      const torch::Tensor& bias = {});

  // The same, and the gradient of scale * sum of losses: returned for the rows, added to the grad() of matrix and bias.
  HeadResult train(const torch::Tensor& rows, const torch::Tensor& matrix, std::span<const std::int32_t> answers,
                   double scale, torch::Tensor& rows_gradient, const torch::Tensor& bias = {});

 private:
  HeadResult run(const torch::Tensor& rows, const torch::Tensor& matrix, std::span<const std::int32_t> answers,
                 double scale, torch::Tensor* rows_gradient, const torch::Tensor& bias);

  torch::Tensor logits_;  // the buffer, [chunk, V]
  std::vector<float> losses_;
};

}  // namespace mneme
