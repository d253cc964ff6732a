#include "tasks/phase_tests.h"

#include <array>

#include "core/error.h"

namespace mneme::tasks {
namespace {

bool is_on(float step) { return step >= 0.5F; }

// The first and last interval of a phase test: the middle of the trained range.
std::int64_t usual_interval(const Timing& timing) { return (timing.shortest_iti + timing.longest_iti) / 2; }

}  // namespace

SignalPair signal_from_segments(std::span<const Segment> segments) {
  std::vector<float> steps;
  for (const Segment& segment : segments)
    steps.insert(steps.end(), static_cast<std::size_t>(segment.steps), segment.on ? 1.0F : 0.0F);
  require(steps.size() >= 2, "a signal of two steps at least");
  return {.input = {steps.begin(), steps.end() - 1}, .targets = {steps.begin() + 1, steps.end()}};
}

void OffsetScore::add(std::span<const float> input, std::span<const float> targets, std::span<const float> outputs) {
  require(input.size() == targets.size() && input.size() == outputs.size(), "as many outputs as steps");
  bool inside = false, right = true;
  for (std::size_t t = 0; t < input.size(); ++t) {
    if (!is_on(input[t])) {
      inside = false;
      continue;
    }
    if (!inside) right = true;
    inside = true;
    right = right && is_on(outputs[t]) == is_on(targets[t]);
    if (is_on(targets[t])) continue;
    predicted += right;
    ++stimuli;
  }
}

SignalPair two_isi_signal(const Timing& timing) {
  const std::int64_t usual = usual_interval(timing);
  return signal_from_segments(std::array<Segment, 5>{
      {{false, usual}, {true, timing.isi}, {false, 2 * timing.longest_iti}, {true, timing.isi}, {false, usual}}});
}

bool passes_two_isi(const SignalPair& signal, std::span<const float> outputs) {
  OffsetScore score;
  score.add(signal.input, signal.targets, outputs);
  return score.stimuli == 2 && score.predicted == 2;
}

SignalPair double_isi_signal(const Timing& timing, std::int64_t gap) {
  const std::int64_t usual = usual_interval(timing);
  return signal_from_segments(
      std::array<Segment, 5>{{{false, usual}, {true, timing.isi}, {false, gap}, {true, timing.isi}, {false, usual}}});
}

bool passes_double_isi(const Timing& timing, std::int64_t gap, std::span<const float> outputs) {
  const std::int64_t onset = usual_interval(timing), second = onset + timing.isi + gap;
  const auto on_at = [&](std::int64_t step) { return is_on(outputs[static_cast<std::size_t>(step)]); };
  if (on_at(onset + timing.isi - 1) || on_at(second + timing.isi - 1)) return false;
  for (std::int64_t step = timing.isi / 5; step < timing.isi - 1; ++step)
    if (!on_at(second + step)) return false;
  return true;
}

std::vector<PhaseTest> phase_tests(const Timing& timing) {
  const SignalPair two = two_isi_signal(timing);
  std::vector<PhaseTest> tests;
  tests.push_back({"two_isi", two, [two](std::span<const float> outputs) { return passes_two_isi(two, outputs); }});
  for (const std::int64_t gap : {0, 1})
    tests.push_back(
        {gap == 0 ? "double_isi" : "double_isi_gap_1", double_isi_signal(timing, gap),
         [timing, gap](std::span<const float> outputs) { return passes_double_isi(timing, gap, outputs); }});
  return tests;
}

}  // namespace mneme::tasks
