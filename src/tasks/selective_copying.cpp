#include "tasks/selective_copying.h"

#include <fmt/format.h>

#include <algorithm>

#include "tasks/sampling.h"

namespace mneme::tasks {
namespace {

constexpr std::int32_t kNoise = 0;

class SelectiveCopying : public Task {
 public:
  explicit SelectiveCopying(const Options& options)
      : length_(static_cast<std::size_t>(options.integer("length"))),
        data_(static_cast<std::size_t>(options.integer("data"))),
        marker_(static_cast<std::int32_t>(options.integer("vocab")) - 1) {}

  TaskShape shape() const override {
    return {.length = static_cast<std::int64_t>(length_ + data_),
            .vocab = marker_ + 1,
            .classes = marker_ + 1,
            .labelled = static_cast<double>(data_)};
  }

  double chance() const override { return 1.0 / (marker_ - 1); }

  void generate(Random& random, const ExampleView& out) const override {
    const auto context = out.tokens.first(length_), questions = out.tokens.subspan(length_);
    const auto answers = out.labels.subspan(length_);
    fill_uniform(random, 1, static_cast<std::uint32_t>(marker_ - 1), answers);
    std::fill_n(out.labels.begin(), length_, kUnlabelled);
    std::fill(context.begin(), context.end(), kNoise);
    scatter_in_order(random, answers, context);
    std::fill(questions.begin(), questions.end(), marker_);
  }

  std::vector<std::int32_t> solve(std::span<const std::int32_t> tokens) const override {
    std::vector<std::int32_t> labels(tokens.size(), kUnlabelled);
    std::copy_if(tokens.begin(), tokens.begin() + static_cast<std::ptrdiff_t>(length_),
                 labels.begin() + static_cast<std::ptrdiff_t>(length_),
                 [](std::int32_t token) { return token != kNoise; });
    return labels;
  }

  std::vector<Role> roles(const ExampleView& example) const override {
    std::vector<Role> roles;
    for (const std::int32_t token : example.tokens)
      roles.push_back(token == kNoise ? Role::filler : token == marker_ ? Role::query : Role::data);
    return roles;
  }

  std::vector<std::int32_t> sources(const ExampleView& example) const override {
    std::vector<std::int32_t> sources(example.tokens.size(), -1);
    std::size_t next = length_;
    for (std::size_t t = 0; t < length_; ++t)
      if (example.tokens[t] != kNoise) sources[next++] = static_cast<std::int32_t>(t);
    return sources;
  }

  std::string token_text(std::int32_t token) const override {
    return token == kNoise ? "_" : token == marker_ ? "?" : std::to_string(token);
  }

 private:
  std::size_t length_, data_;
  std::int32_t marker_;
};

std::unique_ptr<Task> build(const Options& options) {
  if (options.integer("data") > options.integer("length"))
    options.reject("data", fmt::format("at most length = {}", options.integer("length")));
  return std::make_unique<SelectiveCopying>(options);
}

}  // namespace

TaskEntry selective_copying_entry() {
  return {
      .name = "selective_copying",
      .summary = "remember data scattered in long noise, then repeat them at markers",
      .citation = "Gu and Dao 2023, Mamba: Linear-Time Sequence Modeling with Selective State Spaces, 4.1.1 and E.1",
      .layout =
          "length tokens of noise (0) with `data` data tokens (1..vocab-2) at random positions, then as many "
          "markers\n(vocab - 1), labelled with the data in order.",
      .options =
          {
              integer_field("length", 4096, 1, 1 << 20, "tokens before the markers"),
              integer_field("data", 16, 1, 1 << 16, "data tokens; at most length"),
              integer_field("vocab", 16, 3, 1 << 24, "number of tokens: noise, data, marker"),
          },
      .metrics = {"accuracy", "exact_match", "accuracy_by_position", "accuracy_by_distance"},
      .axes = {{"length", {8192, 16384, 65536}, "longer noise"},
               {"data",
                {32, 64, 128},
                "more data, in a longer sequence if needed",
                [](Options& options) {
                  options.set("length", std::max(options.integer("length"), options.integer("data")));
                }}},
      .build = build,
  };
}

}  // namespace mneme::tasks
