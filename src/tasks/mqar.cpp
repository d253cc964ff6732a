#include "tasks/mqar.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "core/error.h"
#include "tasks/sampling.h"

namespace mneme {
namespace {

class Mqar : public Task {
 public:
  explicit Mqar(const Options& options)
      : length_(options.integer("length")),
        pairs_(options.integer("pairs")),
        vocab_(options.integer("vocab")),
        shared_(options.text("vocabulary") == "shared"),
        random_filler_(options.text("filler") == "random"),
        slots_(slot_weights(options)) {}

  TaskShape shape() const override {
    return {.length = length_, .vocab = vocab_, .classes = vocab_, .asked = static_cast<double>(pairs_)};
  }

  // A model that answers with some value of the context is right once in `pairs` times.
  double chance() const override { return 1.0 / static_cast<double>(pairs_); }

  void generate(Random& random, const ExampleView& out) const override {
    const auto pairs = static_cast<std::size_t>(pairs_);
    thread_local std::vector<std::int32_t> keys, values, slots;
    keys.resize(pairs);
    values.resize(pairs);
    slots.resize(pairs);
    const auto vocab = static_cast<std::int32_t>(vocab_);
    if (shared_) {
      sample_distinct(random, 1, vocab - 1, keys);
      for (auto& value : values) value = 1 + static_cast<std::int32_t>(random.below(static_cast<std::uint32_t>(vocab - 1)));
    } else {
      sample_distinct(random, 1, vocab / 2 - 1, keys);
      sample_distinct(random, vocab / 2, vocab - 1, values);
    }
    slots_.draw(random, slots);

    for (std::size_t i = 0; i < pairs; ++i) {
      out.tokens[2 * i] = keys[i];
      out.tokens[2 * i + 1] = values[i];
    }
    const auto queries = out.tokens.subspan(2 * pairs);
    if (random_filler_) {
      for (auto& token : queries) token = static_cast<std::int32_t>(random.below(static_cast<std::uint32_t>(vocab)));
    } else {
      std::fill(queries.begin(), queries.end(), 0);
    }
    std::fill(out.labels.begin(), out.labels.end(), kNotAsked);
    for (std::size_t i = 0; i < pairs; ++i) {
      const auto at = 2 * pairs + 2 * static_cast<std::size_t>(slots[i]);
      out.tokens[at] = keys[i];
      out.labels[at] = values[i];
    }
  }

  std::vector<Role> roles(const ExampleView& example) const override {
    std::vector<Role> roles(example.tokens.size(), Role::filler);
    for (std::size_t t = 0; t < roles.size(); ++t) {
      if (t < 2 * static_cast<std::size_t>(pairs_)) roles[t] = t % 2 == 0 ? Role::key : Role::value;
      else if (example.labels[t] != kNotAsked) roles[t] = Role::query;
    }
    return roles;
  }

 private:
  static std::vector<double> slot_weights(const Options& options) {
    const std::int64_t count = (options.integer("length") - 2 * options.integer("pairs")) / 2;
    std::vector<double> weights;
    for (std::int64_t g = 0; g < count; ++g)
      weights.push_back(std::pow(static_cast<double>(g + 1), options.real("power") - 1.0));
    return weights;
  }

  std::int64_t length_, pairs_, vocab_;
  bool shared_, random_filler_;
  WeightedPlaces slots_;
};

std::unique_ptr<Task> build(const Options& options) {
  const std::int64_t length = options.integer("length");
  const std::int64_t pairs = options.integer("pairs");
  if (length % 2 != 0) options.reject("length", "an even number");
  if (4 * pairs > length) options.reject("pairs", "at most length / 4 = " + std::to_string(length / 4));
  if (options.integer("vocab") <= length) options.reject("vocab", "more than length = " + std::to_string(length));
  return std::make_unique<Mqar>(options);
}

}  // namespace

TaskEntry mqar_entry() {
  return {
      .name = "mqar",
      .summary = "multi-query associative recall: each key of the context is asked for once, later",
      .citation = "Arora et al. 2023, Zoology: Measuring and Improving Recall in Efficient Language Models",
      .layout = "key value key value ... (2 * pairs tokens), then length/2 - pairs slots of two tokens.\n"
                "Each key stands once more at the start of a slot and its value is asked there; the rest is filler.\n"
                "Slot g is drawn first with weight (g + 1)^(power - 1), without replacement.",
      .options =
          {
              integer_field("length", 64, 4, 1 << 20, "tokens in a sequence, even"),
              integer_field("pairs", 4, 1, 1 << 18, "key-value pairs; 4 * pairs <= length"),
              integer_field("vocab", 8192, 5, 1 << 24, "number of tokens; more than length"),
              choice_field("vocabulary", "split", {"split", "shared"},
                           "keys from the lower and values from the upper half, or both from all tokens"),
              real_field("power", 0.01, -16, 16, "slot weights: 0.01 favours early queries, 1 is uniform"),
              choice_field("filler", "random", {"random", "zero"}, "what stands where nothing is asked"),
          },
      .metrics = {"accuracy", "exact_match"},
      .axes = {{"length", {128, 256, 512, 1024}, "longer sequences"}, {"pairs", {8, 16, 32, 64}, "more pairs"}},
      .build = build,
  };
}

}  // namespace mneme
