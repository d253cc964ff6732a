// How offset prediction on the counting task is scored, and the two phase tests of models trained on it.
//
// outputs[t] is what a model predicts for the next step after reading input[t]: on from 0.5, else off.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace mneme::tasks {

// A signal and its next steps; both have one step less than the segments together.
struct SignalPair {
  std::vector<float> input, targets;
};

struct Segment {
  bool on;
  std::int64_t steps;
};

SignalPair signal_from_segments(std::span<const Segment> segments);

// Of the stimuli that lie entirely inside the signal with an off-step after them: how many are predicted,
// that is off at the last on-step and on at all others.
struct OffsetScore {
  std::int64_t predicted = 0;
  std::int64_t stimuli = 0;
  double share() const { return stimuli == 0 ? 0.0 : static_cast<double>(predicted) / static_cast<double>(stimuli); }
  // A trial passes with this share.
  static constexpr double kEnough = 0.95;
  bool passes() const { return share() >= kEnough; }
  void add(std::span<const float> input, std::span<const float> targets, std::span<const float> outputs);
};

struct Timing {
  std::int64_t isi;
  std::int64_t shortest_iti;
  std::int64_t longest_iti;
};

// Two stimuli with a gap between them that is twice the longest interval of training.
SignalPair two_isi_signal(const Timing& timing);
// Both offsets are predicted.
bool passes_two_isi(const SignalPair& signal, std::span<const float> outputs);

// One stimulus of twice the trained duration, or two with `gap` off-steps between them.
SignalPair double_isi_signal(const Timing& timing, std::int64_t gap = 0);
// Off at on-steps isi and 2 * isi; on at the on-steps between, but for the first isi / 5 of them.
bool passes_double_isi(const Timing& timing, std::int64_t gap, std::span<const float> outputs);

// The tests above as a list: two_isi, double_isi, double_isi_gap_1.
struct PhaseTest {
  std::string name;
  SignalPair signal;
  std::function<bool(std::span<const float> outputs)> passes;
};
std::vector<PhaseTest> phase_tests(const Timing& timing);

}  // namespace mneme::tasks
