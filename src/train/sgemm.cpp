#include "train/sgemm.h"

#include <algorithm>
#include <chrono>

#include "mixers/torch.h"

namespace mneme {

double sgemm_rate(std::int64_t m, std::int64_t k, std::int64_t n, double seconds) {
  using Clock = std::chrono::steady_clock;
  const torch::NoGradGuard guard;
  const torch::Tensor a = torch::full({m, k}, 0.5), b = torch::full({k, n}, 0.25);
  torch::Tensor c = torch::empty({m, n});
  const double work = 2.0 * static_cast<double>(m) * static_cast<double>(k) * static_cast<double>(n);
  double best = 0;
  const auto start = Clock::now();
  do {
    const auto before = Clock::now();
    torch::mm_out(c, a, b);
    const double elapsed = std::chrono::duration<double>(Clock::now() - before).count();
    best = std::max(best, work / elapsed);
  } while (std::chrono::duration<double>(Clock::now() - start).count() < seconds);
  return best;
}

}  // namespace mneme
