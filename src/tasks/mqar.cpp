#include "tasks/mqar.h"

#include <fmt/format.h>

#include <algorithm>

#include "tasks/pairs.h"
#include "tasks/recall.h"

namespace mneme::tasks {
namespace {

class Mqar : public PairTask {
 public:
  explicit Mqar(const Options& options)
      : PairTask(options.integer("pairs")),
        length_(options.integer("length")),
        pairs_(options.integer("pairs")),
        vocab_(options.integer("vocab")),
        shared_(options.text("vocabulary") == "shared"),
        region_((length_ - 2 * pairs_) / 2, options) {}

  TaskShape shape() const override {
    return {.length = length_, .vocab = vocab_, .classes = vocab_, .labelled = static_cast<double>(pairs_)};
  }

  // A model that answers with some value of the context is right once in `pairs` times.
  double chance() const override { return 1.0 / static_cast<double>(pairs_); }

  void generate(Random& random, const ExampleView& out) const override {
    const auto pairs = static_cast<std::size_t>(pairs_);
    const auto vocab = static_cast<std::int32_t>(vocab_);
    thread_local std::vector<std::int32_t> keys, values, slots;
    keys.resize(pairs);
    values.resize(pairs);
    slots.resize(pairs);
    if (shared_) {
      sample_distinct(random, 1, vocab - 1, keys);
      fill_uniform(random, 1, static_cast<std::uint32_t>(vocab - 1), values);
    } else {
      sample_distinct(random, 1, vocab / 2 - 1, keys);
      sample_distinct(random, vocab / 2, vocab - 1, values);
    }
    region_.place(random, slots);

    for (std::size_t i = 0; i < pairs; ++i) {
      out.tokens[2 * i] = keys[i];
      out.tokens[2 * i + 1] = values[i];
    }
    region_.fill(random, out.tokens.subspan(2 * pairs));
    std::fill(out.labels.begin(), out.labels.end(), kUnlabelled);
    for (std::size_t i = 0; i < pairs; ++i) {
      const auto at = 2 * pairs + 2 * static_cast<std::size_t>(slots[i]);
      out.tokens[at] = keys[i];
      out.labels[at] = values[i];
    }
  }

 private:
  std::int64_t length_, pairs_, vocab_;
  bool shared_;
  QuestionRegion region_;
};

std::unique_ptr<Task> build(const Options& options) {
  const std::int64_t length = options.integer("length"), pairs = options.integer("pairs");
  if (4 * pairs > length) options.reject("pairs", fmt::format("at most length / 4 = {}", length / 4));
  check_recall_sizes(options, 2, 2 * pairs);
  if (options.text("vocabulary") == "split")
    check_recall_vocabulary(options);
  else if (options.integer("vocab") <= pairs)
    options.reject("vocab", fmt::format("more than pairs = {}, because keys are distinct", pairs));
  return std::make_unique<Mqar>(options);
}

void lengthen_for_pairs(Options& options) {
  options.set("length", std::max(options.integer("length"), 4 * options.integer("pairs")));
}

}  // namespace

TaskEntry mqar_entry() {
  return {
      .name = "mqar",
      .summary = "multi-query associative recall: recall the value of each key of the context",
      .citation = "Arora et al. 2023, Zoology: Measuring and Improving Recall in Efficient Language Models",
      .layout =
          "key value key value ... (2 * pairs tokens), then length/2 - pairs slots of two tokens.\n"
          "Each key appears once more at the start of a slot, labelled with its value; the rest is filler.\n"
          "Slot g is drawn first with weight (g + 1)^(power - 1), without replacement.",
      .options =
          {
              integer_field("length", 64, 4, 1 << 20, "tokens in a sequence, even"),
              integer_field("pairs", 4, 1, 1 << 18, "key-value pairs; 4 * pairs <= length"),
              integer_field("vocab", 8192, 2, 1 << 24,
                            "number of tokens; more than length if split, than pairs if shared"),
              choice_field("vocabulary", "split", {"split", "shared"},
                           "keys from the lower and values from the upper half, or both from all tokens"),
              power_field(),
              filler_field(),
          },
      .metrics = {"accuracy", "exact_match", "accuracy_by_position", "accuracy_by_distance"},
      .axes = {{"length", {128, 256, 512, 1024}, "longer sequences"},
               {"pairs", {8, 16, 32, 64}, "more pairs, in a longer sequence if needed", lengthen_for_pairs}},
      .build = build,
  };
}

}  // namespace mneme::tasks
