#include "tasks/counting.h"

#include <fmt/format.h>

#include <algorithm>

#include "tasks/sampling.h"

namespace mneme::tasks {
namespace {

class Counting : public Task {
 public:
  explicit Counting(const Options& options)
      : length_(options.integer("length")),
        isi_(options.integer("isi")),
        shortest_iti_(options.integers("iti").front()),
        longest_iti_(options.integers("iti").back()),
        chance_(best_guess_from_one_step()) {}

  TaskShape shape() const override {
    return {.length = length_ - 1, .vocab = 0, .classes = 0, .labelled = static_cast<double>(length_ - 1)};
  }

  double chance() const override { return chance_; }

  void generate(Random& random, const ExampleView& out) const override {
    // step t of the signal is the input at t and the target at t - 1.
    const auto last = static_cast<std::size_t>(length_ - 1);
    std::fill(out.signal.begin(), out.signal.end(), 0.0F);
    std::fill(out.targets.begin(), out.targets.end(), 0.0F);
    for (std::int64_t onset = interval(random); onset < length_; onset += isi_ + interval(random)) {
      const auto begin = static_cast<std::size_t>(onset);
      const auto end = static_cast<std::size_t>(std::min(onset + isi_, length_));
      for (std::size_t t = begin; t < end; ++t) out.targets[t - 1] = 1.0F;
      for (std::size_t t = begin; t < std::min(end, last); ++t) out.signal[t] = 1.0F;
    }
  }

  std::vector<std::int32_t> solve(std::span<const std::int32_t>) const override { return {}; }

  std::vector<Role> roles(const ExampleView& example) const override {
    std::vector<Role> roles;
    for (const float step : example.signal) roles.push_back(step > 0.5F ? Role::data : Role::filler);
    return roles;
  }

 private:
  std::int64_t interval(Random& random) const { return uniform_between(random, shortest_iti_, longest_iti_); }

  // The share of steps that is predicted right from the current step alone: the better of on
  // and off after an on-step, and the better of both after an off-step. Exact, from the probabilities
  // that the signal goes on and off at each step.
  double best_guess_from_one_step() const {
    const auto steps = static_cast<std::size_t>(length_);
    std::vector<double> onset(steps, 0), offset(steps, 0);
    offset[0] = 1;  // the first interval starts at step 0
    const double each = 1.0 / static_cast<double>(longest_iti_ - shortest_iti_ + 1);
    double within = 0;  // probability that an interval which may end now has begun
    for (std::int64_t t = 1; t < length_; ++t) {
      if (t >= shortest_iti_) within += offset[static_cast<std::size_t>(t - shortest_iti_)];
      if (t > longest_iti_) within -= offset[static_cast<std::size_t>(t - longest_iti_ - 1)];
      onset[static_cast<std::size_t>(t)] = each * within;
      if (t >= isi_) offset[static_cast<std::size_t>(t)] = onset[static_cast<std::size_t>(t - isi_)];
    }
    double on = 0, on_steps = 0, rises = 0, falls = 0;
    for (std::size_t t = 1; t < steps; ++t) {
      on_steps += on;  // whether the step before t is on
      rises += onset[t];
      falls += offset[t];
      on += onset[t] - offset[t];
    }
    const double total = static_cast<double>(length_ - 1), off_steps = total - on_steps;
    return (std::max(falls, on_steps - falls) + std::max(rises, off_steps - rises)) / total;
  }

  std::int64_t length_, isi_, shortest_iti_, longest_iti_;
  double chance_;
};

std::unique_ptr<Task> build(const Options& options) {
  const auto iti = options.integers("iti");
  if (iti.size() > 2 || iti.front() > iti.back())
    options.reject("iti", "one number, or a list [shortest, longest] of two in order");
  if (options.integer("length") <= iti.front())
    options.reject("length",
                   fmt::format("more than the shortest interval {}, else the signal is never on", iti.front()));
  return std::make_unique<Counting>(options);
}

}  // namespace

TaskEntry counting_entry() {
  return {
      .name = "counting",
      .summary = "predict the next step of a signal: on for a fixed time, off for a random one",
      .citation =
          "On Memory and Generalization in the Era of Linear Recurrence, 3, 4.3 and appendix G (offset prediction)",
      .layout =
          "A scalar signal of `length` steps, off (0) for a random time from iti, on (1) for isi steps, off, on, ...\n"
          "It starts off and is cut at length. Input: all steps but the last, each labelled with the next step.",
      .options =
          {
              integer_field("length", 200, 3, 1 << 22, "steps of the signal; one more than inputs"),
              integer_field("isi", 10, 1, 1 << 20, "steps for which the signal stays on"),
              integers_field("iti", Json::array({20, 40}), 1, 1 << 20,
                             "steps for which the signal stays off: [shortest, longest], both included, or one number"),
          },
      .metrics = {"accuracy", "offset", "two_isi", "double_isi"},
      .axes = {{"length", {400, 600, 1000, 2000}, "longer signals"}},
      .build = build,
  };
}

}  // namespace mneme::tasks
