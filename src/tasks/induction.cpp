#include "tasks/induction.h"

#include <algorithm>

#include "tasks/sampling.h"

namespace mneme::tasks {
namespace {

class Induction : public Task {
 public:
  explicit Induction(const Options& options) : length_(options.integer("length")), vocab_(options.integer("vocab")) {}

  TaskShape shape() const override { return {.length = length_, .vocab = vocab_, .classes = vocab_, .labelled = 1}; }

  // Every token but the special one is equally likely to be the answer.
  double chance() const override { return 1.0 / static_cast<double>(vocab_ - 1); }

  void generate(Random& random, const ExampleView& out) const override {
    const auto last = static_cast<std::size_t>(length_ - 1);
    const auto special = static_cast<std::int32_t>(vocab_ - 1);
    fill_uniform(random, 0, static_cast<std::uint32_t>(special), out.tokens);
    const std::size_t at = random.below(static_cast<std::uint32_t>(length_ - 2));
    out.tokens[at] = out.tokens[last] = special;
    std::fill(out.labels.begin(), out.labels.end(), kUnlabelled);
    out.labels[last] = out.tokens[at + 1];
  }

  std::vector<std::int32_t> solve(std::span<const std::int32_t> tokens) const override {
    std::vector<std::int32_t> labels(tokens.size(), kUnlabelled);
    labels.back() = tokens[first_special(tokens) + 1];
    return labels;
  }

  std::vector<Role> roles(const ExampleView& example) const override {
    std::vector<Role> roles(example.tokens.size(), Role::filler);
    const std::size_t at = first_special(example.tokens);
    roles[at] = Role::key;
    roles[at + 1] = Role::value;
    roles.back() = Role::query;
    return roles;
  }

  std::vector<std::int32_t> sources(const ExampleView& example) const override {
    std::vector<std::int32_t> sources(example.tokens.size(), -1);
    sources.back() = static_cast<std::int32_t>(first_special(example.tokens));
    return sources;
  }

 private:
  std::size_t first_special(std::span<const std::int32_t> tokens) const {
    return static_cast<std::size_t>(std::find(tokens.begin(), tokens.end(), vocab_ - 1) - tokens.begin());
  }

  std::int64_t length_, vocab_;
};

std::unique_ptr<Task> build(const Options& options) { return std::make_unique<Induction>(options); }

}  // namespace

TaskEntry induction_entry() {
  return {
      .name = "induction",
      .summary = "induction head: recall the token that followed a special token",
      .citation =
          "Gu and Dao 2023, Mamba: Linear-Time Sequence Modeling with Selective State Spaces, 4.1.2 and E.1; "
          "Olsson et al. 2022, In-context Learning and Induction Heads",
      .layout =
          "Random tokens; somewhere the special token (vocab - 1), followed by the answer;\nthe special token again at "
          "the last position, labelled with the answer.",
      .options =
          {
              integer_field("length", 256, 3, 1 << 21, "tokens in a sequence"),
              integer_field("vocab", 16, 3, 1 << 24, "number of tokens, the special one included"),
          },
      .metrics = {"accuracy", "accuracy_by_distance"},
      .axes = {{"length",
                {64, 128, 512, 1024, 2048, 4096, 16384, 65536, 262144, 1048576},
                "longer sequences, to 2^20"}},
      .build = build,
  };
}

}  // namespace mneme::tasks
