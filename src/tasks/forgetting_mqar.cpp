#include "tasks/forgetting_mqar.h"

#include <fmt/format.h>

#include <algorithm>

#include "tasks/pairs.h"
#include "tasks/recall.h"

namespace mneme::tasks {
namespace {

class ForgettingMqar : public PairTask {
 public:
  explicit ForgettingMqar(const Options& options)
      : PairTask(options.integer("pairs") + options.integer("updates")),
        length_(options.integer("length")),
        pairs_(options.integer("pairs")),
        updates_(options.integer("updates")),
        vocab_(options.integer("vocab")),
        region_((length_ - 2 * (pairs_ + updates_)) / 2, options) {}

  TaskShape shape() const override {
    return {.length = length_, .vocab = vocab_, .classes = vocab_, .labelled = static_cast<double>(pairs_)};
  }

  double chance() const override { return 1.0 / static_cast<double>(pairs_); }

  void generate(Random& random, const ExampleView& out) const override {
    const auto pairs = static_cast<std::size_t>(pairs_), updates = static_cast<std::size_t>(updates_);
    const auto vocab = static_cast<std::int32_t>(vocab_);
    thread_local std::vector<std::int32_t> keys, values, slots, updated;
    keys.resize(pairs);
    values.resize(pairs);
    slots.resize(pairs);
    updated.resize(updates);
    sample_distinct(random, 1, vocab / 2 - 1, keys);
    sample_distinct(random, vocab / 2, vocab - 1, values);
    sample_distinct(random, 0, static_cast<std::int32_t>(pairs) - 1, updated);
    region_.place(random, slots);

    for (std::size_t i = 0; i < pairs; ++i) {
      out.tokens[2 * i] = keys[i];
      out.tokens[2 * i + 1] = values[i];
    }
    for (std::size_t i = 0; i < updates; ++i) {
      const auto which = static_cast<std::size_t>(updated[i]);
      values[which] = another_value(random, values[which]);
      out.tokens[2 * (pairs + i)] = keys[which];
      out.tokens[2 * (pairs + i) + 1] = values[which];
    }
    const std::size_t context = 2 * (pairs + updates);
    region_.fill(random, out.tokens.subspan(context));
    std::fill(out.labels.begin(), out.labels.end(), kUnlabelled);
    for (std::size_t i = 0; i < pairs; ++i) {
      const auto at = context + 2 * static_cast<std::size_t>(slots[i]);
      out.tokens[at] = keys[i];
      out.labels[at] = values[i];
    }
  }

 private:
  // Uniform over the values other than `old`: an update always changes something.
  std::int32_t another_value(Random& random, std::int32_t old) const {
    const std::int64_t first = vocab_ / 2;
    const auto pick = first + random.below(static_cast<std::uint32_t>(vocab_ - first - 1));
    return static_cast<std::int32_t>(pick) + (pick >= old ? 1 : 0);
  }

  std::int64_t length_, pairs_, updates_, vocab_;
  QuestionRegion region_;
};

std::unique_ptr<Task> build(const Options& options) {
  const std::int64_t pairs = options.integer("pairs"), updates = options.integer("updates");
  if (updates > pairs) options.reject("updates", fmt::format("at most pairs = {}", pairs));
  check_recall_sizes(options, 2, 2 * (pairs + updates));
  check_recall_vocabulary(options);
  return std::make_unique<ForgettingMqar>(options);
}

void lengthen(Options& options) {
  const std::int64_t needed = 4 * options.integer("pairs") + 2 * options.integer("updates");
  options.set("length", std::max(options.integer("length"), needed));
}

}  // namespace

TaskEntry forgetting_mqar_entry() {
  return {
      .name = "forgetting_mqar",
      .summary = "recall where some keys are given a new value: the last one counts",
      .citation = "Arora et al. 2023, Zoology (forgetting_mqar in its code)",
      .layout =
          "key value ... (pairs), then key value ... (updates: keys from before, with a new value),\nthen slots of two "
          "tokens as in mqar; each key appears once and is labelled with its last value.",
      .options =
          {
              integer_field("length", 64, 6, 1 << 20, "tokens in a sequence, even"),
              integer_field("pairs", 8, 1, 1 << 18, "different keys; 4 * pairs + 2 * updates <= length"),
              integer_field("updates", 4, 1, 1 << 18, "how many keys are given a new value; at most pairs"),
              integer_field("vocab", 8192, 7, 1 << 24, "number of tokens; more than length"),
              power_field(),
              filler_field(),
          },
      .metrics = {"accuracy", "exact_match", "accuracy_by_position", "accuracy_by_distance"},
      .axes = {{"length", {128, 256, 512, 1024}, "longer sequences"},
               {"pairs", {16, 32, 64}, "more pairs, in a longer sequence if needed", lengthen},
               {"updates",
                {8, 16},
                "more updates, with at least as many pairs",
                [](Options& options) {
                  options.set("pairs", std::max(options.integer("pairs"), options.integer("updates")));
                  lengthen(options);
                }}},
      .build = build,
  };
}

}  // namespace mneme::tasks
