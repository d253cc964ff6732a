// AdamW over flat parameters, and the learning-rate schedule. By a kernel on the CPU, by tensor operations elsewhere.
#pragma once

#include <cstdint>

#include "core/autopsy.h"
#include "core/schema.h"
#include "kernels/dense/adamw.h"
#include "train/parameters.h"

namespace mneme::train {

// Step s (from 0) of n: linear warm-up over the first warmup * n steps, then cosine or linear to zero, or
// constant. Never above the peak; the first step is not zero.
double learning_rate(const Options& train, std::int64_t step);

class Optimiser {
 public:
  Optimiser(FlatParameters& parameters, const Options& train);

  // One update with the gradients that are there; `step` counts from 0. Returns the gradient's norm before clipping.
  // With `trace`, fills its gradient_norm and update_ratio, a number for each segment; the update is the same to the
  // bit.
  double update(std::int64_t step, TraceStep* trace = nullptr);

  torch::Tensor first_moment, second_moment;  // [n] each

 private:
  // The same formula in tensor operations; the arguments' pointers are not looked at. If norms are asked for, returns
  // [3]: the sums of squares of the weights before, of their change and of the gradients.
  torch::Tensor update_by_tensors(const FlatParameters::Segment& segment, const kernels::AdamWArguments& arguments);

  FlatParameters& parameters_;
  const Options& train_;
};

}  // namespace mneme::train
