// How much a node asks the database of leases for at once, and how often. The queue of runs (run_queue.h) goes by it,
// and so does the simulation of a cluster (bench/cluster).
#pragma once

#include <algorithm>
#include <cstddef>

namespace mneme::run {

// Whoever asks for the first free run walks past those that others have taken since it last asked. A question names
// twice as many runs as there were to pass last time: so one is nearly always enough, and where a thousand nodes start
// at once, each of them gets past everybody's runs in a few large steps.
class QuestionSize {
 public:
  std::size_t runs(std::size_t wanted) const { return std::max(size_, 2 * wanted); }
  // `held`: runs of the question that others have.
  void learn(std::size_t held) { size_ = std::clamp(2 * held, kFewest, kMost); }

 private:
  static constexpr std::size_t kFewest = 32, kMost = 2048;
  std::size_t size_ = kFewest;
};

// Seconds between two looks of a node without work at the leases of so many others: no more than a hundred of them are
// read in a second, and every holder is still seen to renew.
inline double look_period(double lease, std::size_t others) {
  constexpr double kShortest = 0.3, kLong = 5, kLooks = 20, kReadInSecond = 100, kRenewals = 4;
  const double period = std::clamp(lease / kLooks, kShortest, kLong);
  return std::max(period, std::min(static_cast<double>(others) / kReadInSecond, lease / kRenewals));
}

}  // namespace mneme::run
