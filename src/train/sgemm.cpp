#include "train/sgemm.h"

#include <algorithm>

#include "mixers/torch.h"
#include "train/timing.h"

namespace mneme {

double sgemm_rate(std::int64_t m, std::int64_t k, std::int64_t n, double seconds) {
  const torch::NoGradGuard guard;
  const torch::Tensor a = torch::full({m, k}, 0.5), b = torch::full({k, n}, 0.25);
  torch::Tensor c = torch::empty({m, n});
  const double work = 2.0 * static_cast<double>(m) * static_cast<double>(k) * static_cast<double>(n);
  double best = 0;
  const double start = now(Clock::wall);
  do {
    const double before = now(Clock::thread);
    torch::mm_out(c, a, b);
    best = std::max(best, work / (now(Clock::thread) - before));
  } while (now(Clock::wall) - start < seconds);
  return best;
}

}  // namespace mneme
