#include "tasks/compositional_mqar.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "tasks/recall.h"

namespace mneme::tasks {
namespace {

std::int64_t grid_side(std::int64_t pairs) {
  return static_cast<std::int64_t>(std::llround(std::sqrt(static_cast<double>(pairs))));
}

class CompositionalMqar : public Task {
 public:
  explicit CompositionalMqar(const Options& options)
      : length_(options.integer("length")),
        pairs_(options.integer("pairs")),
        side_(grid_side(pairs_)),
        vocab_(options.integer("vocab")),
        region_((length_ - 3 * pairs_) / 3, options) {}

  TaskShape shape() const override {
    return {.length = length_, .vocab = vocab_, .classes = vocab_, .labelled = static_cast<double>(pairs_)};
  }

  double chance() const override { return 1.0 / static_cast<double>(pairs_); }

  void generate(Random& random, const ExampleView& out) const override {
    const auto pairs = static_cast<std::size_t>(pairs_), side = static_cast<std::size_t>(side_);
    const auto third = static_cast<std::int32_t>(vocab_ / 3);
    thread_local std::vector<std::int32_t> first, second, values, cells, slots;
    first.resize(side);
    second.resize(side);
    values.resize(pairs);
    cells.resize(pairs);
    slots.resize(pairs);
    sample_distinct(random, 1, third - 1, first);
    sample_distinct(random, third, 2 * third - 1, second);
    sample_distinct(random, 2 * third, static_cast<std::int32_t>(vocab_) - 1, values);
    sample_distinct(random, 0, static_cast<std::int32_t>(pairs) - 1, cells);
    region_.place(random, slots);

    std::fill(out.labels.begin(), out.labels.end(), kUnlabelled);
    region_.fill(random, out.tokens.subspan(3 * pairs));
    for (std::size_t i = 0; i < pairs; ++i) {
      const auto cell = static_cast<std::size_t>(cells[i]);
      const std::size_t query = 3 * pairs + 3 * static_cast<std::size_t>(slots[i]);
      out.tokens[3 * i] = out.tokens[query] = first[cell / side];
      out.tokens[3 * i + 1] = out.tokens[query + 1] = second[cell % side];
      out.tokens[3 * i + 2] = out.labels[query + 1] = values[i];
    }
  }

  std::vector<std::int32_t> solve(std::span<const std::int32_t> tokens) const override {
    std::vector<std::int32_t> labels(tokens.size(), kUnlabelled);
    const auto stated = places(tokens);
    for (std::size_t t = context(); t + 1 < labels.size(); t += 3)
      if (const auto found = stated.find({tokens[t], tokens[t + 1]}); found != stated.end())
        labels[t + 1] = tokens[static_cast<std::size_t>(found->second) + 2];
    return labels;
  }

  std::vector<Role> roles(const ExampleView& example) const override {
    std::vector<Role> roles(example.tokens.size(), Role::filler);
    for (std::size_t t = 0; t < context(); ++t) roles[t] = t % 3 == 2 ? Role::value : Role::key;
    for (std::size_t t = context() + 1; t < roles.size(); ++t)
      if (example.labels[t] != kUnlabelled) roles[t] = roles[t - 1] = Role::query;
    return roles;
  }

  std::vector<std::int32_t> sources(const ExampleView& example) const override {
    std::vector<std::int32_t> sources(example.tokens.size(), -1);
    const auto stated = places(example.tokens);
    for (std::size_t t = context() + 1; t < sources.size(); ++t)
      if (example.labels[t] != kUnlabelled) sources[t] = stated.at({example.tokens[t - 1], example.tokens[t]}) + 1;
    return sources;
  }

 private:
  using Keys = std::pair<std::int32_t, std::int32_t>;

  std::size_t context() const { return 3 * static_cast<std::size_t>(pairs_); }

  // The position of each pair of keys in the context.
  std::map<Keys, std::int32_t> places(std::span<const std::int32_t> tokens) const {
    std::map<Keys, std::int32_t> places;
    for (std::size_t t = 0; t < context(); t += 3) places[{tokens[t], tokens[t + 1]}] = static_cast<std::int32_t>(t);
    return places;
  }

  std::int64_t length_, pairs_, side_, vocab_;
  QuestionRegion region_;
};

std::unique_ptr<Task> build(const Options& options) {
  const std::int64_t pairs = options.integer("pairs"), side = grid_side(pairs);
  if (side * side != pairs)
    options.reject("pairs", fmt::format("a square number: all combinations of as many first as second keys, "
                                        "for example {} or {}",
                                        side * side, (side + 1) * (side + 1)));
  check_recall_sizes(options, 3, 3 * pairs);
  check_recall_vocabulary(options);
  return std::make_unique<CompositionalMqar>(options);
}

void lengthen(Options& options) {
  options.set("length", std::max(options.integer("length"), 6 * options.integer("pairs")));
}

}  // namespace

TaskEntry compositional_mqar_entry() {
  return {
      .name = "compositional_mqar",
      .summary = "recall by two keys together: neither alone tells the value",
      .citation = "Arora et al. 2023, Zoology (compositional_mqar in its code)",
      .layout =
          "first-key second-key value ... (pairs triples: every combination of sqrt(pairs) first and as many\nsecond "
          "keys, shuffled), then slots of three tokens: first-key second-key filler.\nThe second key is labelled with "
          "the value. First keys, second keys and values are thirds of the vocabulary.",
      .options =
          {
              integer_field("length", 66, 6, 1 << 20, "tokens in a sequence, a multiple of 3"),
              integer_field("pairs", 4, 1, 1 << 18, "combinations of keys, a square; 6 * pairs <= length"),
              integer_field("vocab", 8192, 7, 1 << 24, "number of tokens; more than length"),
              power_field(),
              filler_field(),
          },
      .metrics = {"accuracy", "exact_match", "accuracy_by_position", "accuracy_by_distance"},
      .axes = {{"length", {129, 258, 513, 1026}, "longer sequences"},
               {"pairs", {9, 16, 25, 64}, "a larger grid, in a longer sequence if needed", lengthen}},
      .build = build,
  };
}

}  // namespace mneme::tasks
