// Linear probes by ridge regression, judged on examples that they were not fitted to.
#pragma once

#include <cstdint>
#include <vector>

#include "ops/torch.h"

namespace mneme::inspect {

// The rows of a data set by their use, in this order.
struct ProbeSplit {
  std::int64_t train = 640, validation = 128, test = 256;
  std::int64_t rows() const { return train + validation + test; }
};

// For each column of labels [N, n], classes 0..V-1: the share of test rows whose class a linear map of x [N, S] gives
// the largest score, of one-hot targets. The strength of the ridge is the one of kStrengths (relative to the mean
// squared length of x) that is right most often on the validation rows, over all columns. Float64.
std::vector<double> probe_accuracy(const torch::Tensor& x, const torch::Tensor& labels, std::int64_t classes,
                                   const ProbeSplit& split);

// The information that a guess with this accuracy has at least about one of `classes` equally likely classes (Fano):
// log2 V + a log2 a + (1 - a) log2((1 - a) / (V - 1)); 0 at chance and below.
double bits_of_accuracy(double accuracy, std::int64_t classes);

// How many directions the rows of x [N, S] use: exp of the entropy of their singular values as shares, the mean row
// taken away (Roy and Vetterli 2007). 0 if all rows are equal.
double effective_rank(const torch::Tensor& x);

// Mean |cosine| of the angles between the rows of x [n, S], rows of no length left out; 0 with fewer than two.
double mean_overlap(const torch::Tensor& x);

}  // namespace mneme::inspect
