#include "train/checkpoint_clock.h"

#include <algorithm>

namespace mneme::train {

CheckpointClock::CheckpointClock(std::int64_t bytes, double period, double share)
    : period_(period), share_(share), expected_(static_cast<double>(bytes) / kSlowBytes) {}

bool CheckpointClock::due(double now) const { return now - last_ >= period_ && spent_ + 2 * expected_ <= share_ * now; }

void CheckpointClock::saved(double begin, double end) {
  const double cost = end - begin;
  spent_ += cost;
  ++count_;
  last_ = end;
  // The slower of the last and the average: one lucky save does not buy a dear one.
  expected_ = std::max(cost, spent_ / count_);
}

}  // namespace mneme::train
