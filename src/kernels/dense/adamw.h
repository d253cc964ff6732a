// adamw: one step of AdamW (Loshchilov and Hutter 2019) on a stretch of parameters.
//
//   p <- p - lr * decay * p
//   m <- beta1 * m + (1 - beta1) * g        g = grad_scale * gradient
//   v <- beta2 * v + (1 - beta2) * g^2
//   p <- p - lr / (1 - beta1^t) * m / (sqrt(v) / sqrt(1 - beta2^t) + eps)
// All arrays float32 of n elements, not overlapping. Elements are independent.
#pragma once

#include <cstddef>
#include <cstdint>

namespace mneme::kernels {

// Sums of squares over the elements, as they are at the step: in float32, in a fixed order.
struct AdamWNorms {
  double weights = 0;  // before the step
  double updates = 0;  // of p after minus p before
};

struct AdamWArguments {
  float* parameters;
  const float* gradients;
  float* first_moment;
  float* second_moment;
  std::size_t count;
  double lr, beta1, beta2, eps, decay;
  double grad_scale;            // 1, or less when the gradient is clipped
  std::int64_t step;            // t, from 1
  AdamWNorms* norms = nullptr;  // filled if it is there; the step is the same to the bit
};

void adamw(const AdamWArguments& arguments);
void adamw_reference(const AdamWArguments& arguments);

// Sum of squares in double, in a fixed order: for the global norm.
double sum_of_squares(const float* values, std::size_t count);
double sum_of_squares_reference(const float* values, std::size_t count);

}  // namespace mneme::kernels
