// When to write a checkpoint.
#pragma once

#include <cstdint>

namespace mneme::train {

// By time: often enough that a kill costs little, rarely enough that writing stays below a share of the run's time.
// The share counts what was written so far, the checkpoint in question and the one at the end; a checkpoint that is
// not yet measured is taken to need a second per kSlowBytes. All times are seconds since the run's start.
class CheckpointClock {
 public:
  static constexpr double kPeriod = 20;
  static constexpr double kShare = 0.03;  // a run may spend 3.5 %; the rest is for saves that turn out slower
  static constexpr double kSlowBytes = 50e6;

  explicit CheckpointClock(std::int64_t bytes, double period = kPeriod, double share = kShare);

  bool due(double now) const;
  void saved(double begin, double end);

  double spent() const { return spent_; }
  int count() const { return count_; }

 private:
  double period_, share_, expected_;
  double last_ = 0, spent_ = 0;
  int count_ = 0;
};

}  // namespace mneme::train
