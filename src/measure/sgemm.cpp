#include "measure/sgemm.h"

#include <algorithm>

#include "core/error.h"
#include "core/timing.h"
#include "ops/torch.h"

namespace mneme::measure {
namespace {

constexpr std::size_t kMeasuredShapes = 12;

}  // namespace

double sgemm_rate(const GemmShape& shape, double seconds) {
  const torch::NoGradGuard guard;
  const auto matrix = [](std::int64_t rows, std::int64_t columns, bool transposed) {
    return transposed ? torch::full({columns, rows}, 0.5).t() : torch::full({rows, columns}, 0.5);
  };
  const torch::Tensor a = matrix(shape.m, shape.k, shape.transposed_a),
                      b = matrix(shape.k, shape.n, shape.transposed_b);
  torch::Tensor c = torch::empty({shape.m, shape.n});
  const double work = 2.0 * static_cast<double>(shape.m) * static_cast<double>(shape.k) * static_cast<double>(shape.n);
  // Reading the clock takes as long as a small multiplication.
  const int calls = 1 + static_cast<int>(2e7 / work);
  double best = 0;
  const double start = now(Clock::wall);
  do {
    const double before = now(Clock::thread);
    for (int call = 0; call < calls; ++call) torch::mm_out(c, a, b);
    best = std::max(best, calls * work / (now(Clock::thread) - before));
  } while (now(Clock::wall) - start < seconds);
  return best;
}

double sgemm_rate(std::span<const GemmUse> uses, double seconds_each) {
  require(!uses.empty(), "a matrix multiplication");
  double work = 0, time = 0;
  for (const GemmUse& use : uses.first(std::min(uses.size(), kMeasuredShapes))) {
    work += use.flops;
    time += use.flops / sgemm_rate(use.shape, seconds_each);
  }
  return work / time;
}

}  // namespace mneme::measure
