// cross_entropy: loss, prediction and gradient of rows of logits in one visit.
//
// For each row r of logits [R, V] with label y:
//   loss[r] = log(sum_v exp(z_v - m)) + m - z_y,  m = max_v z_v
//   prediction[r] = the first v with z_v = m
//   logits[r, v] <- scale * (softmax(z)_v - [v = y])       (only with gradient = true)
// float32, rows contiguous, labels in [0, V). A row with a NaN or an infinite maximum gets loss NaN,
// prediction -1 and a NaN gradient: divergence must not be hidden. Rows are independent; each is summed
// in a fixed order.
#pragma once

#include <cstddef>
#include <cstdint>

namespace mneme::kernels {

struct CrossEntropyArguments {
  float* logits;                // [R, V], overwritten
  const std::int32_t* labels;   // [R]
  std::size_t rows;             // R
  std::size_t classes;          // V
  bool gradient;
  float scale;
  float* losses;                // [R]
  std::int32_t* predictions;    // [R]
};

void cross_entropy(const CrossEntropyArguments& arguments);
void cross_entropy_reference(const CrossEntropyArguments& arguments);

}  // namespace mneme::kernels
