#include "tasks/ar.h"

#include <fmt/format.h>

#include <algorithm>

#include "tasks/pairs.h"
#include "tasks/sampling.h"

namespace mneme::tasks {
namespace {

class Ar : public PairTask {
 public:
  explicit Ar(const Options& options)
      : PairTask(options.integer("pairs")), pairs_(options.integer("pairs")), vocab_(options.integer("vocab")) {}

  TaskShape shape() const override {
    return {.length = 2 * pairs_ + 1, .vocab = vocab_, .classes = vocab_, .labelled = 1};
  }

  double chance() const override { return 1.0 / static_cast<double>(pairs_); }

  void generate(Random& random, const ExampleView& out) const override {
    const auto pairs = static_cast<std::size_t>(pairs_);
    const auto half = static_cast<std::int32_t>(vocab_ / 2);
    thread_local std::vector<std::int32_t> keys;
    keys.resize(pairs);
    sample_distinct(random, 1, half - 1, keys);
    for (std::size_t i = 0; i < pairs; ++i) {
      out.tokens[2 * i] = keys[i];
      out.tokens[2 * i + 1] = half + static_cast<std::int32_t>(random.below(static_cast<std::uint32_t>(vocab_ - half)));
    }
    const std::size_t query = random.below(static_cast<std::uint32_t>(pairs));
    out.tokens[2 * pairs] = keys[query];
    std::fill(out.labels.begin(), out.labels.end(), kUnlabelled);
    out.labels[2 * pairs] = out.tokens[2 * query + 1];
  }

 private:
  std::int64_t pairs_, vocab_;
};

std::unique_ptr<Task> build(const Options& options) {
  const std::int64_t keys = options.integer("vocab") / 2 - 1;
  if (options.integer("pairs") > keys)
    options.reject("pairs", fmt::format("at most vocab / 2 - 1 = {}, because keys are distinct", keys));
  return std::make_unique<Ar>(options);
}

}  // namespace

TaskEntry ar_entry() {
  return {
      .name = "ar",
      .summary = "associative recall with one query: pairs, then one key",
      .citation =
          "Ba et al. 2016, Using Fast Weights to Attend to the Recent Past; Fu et al. 2023, Hungry Hungry Hippos",
      .layout =
          "key value key value ... (2 * pairs tokens), then one of the keys, labelled with its value.\nKeys are "
          "distinct and from the lower half of the vocabulary, values from the upper half, with repeats.",
      .options =
          {
              integer_field("pairs", 6, 1, 1 << 20, "key-value pairs; at most vocab / 2 - 1"),
              integer_field("vocab", 50, 4, 1 << 24, "number of tokens"),
          },
      .metrics = {"accuracy", "accuracy_by_distance"},
      .axes = {{"pairs", {8, 12, 16, 24}, "more pairs, which is also a longer sequence"}},
      .build = build,
  };
}

}  // namespace mneme::tasks
