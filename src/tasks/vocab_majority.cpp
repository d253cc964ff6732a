#include "tasks/vocab_majority.h"

#include <algorithm>

#include "tasks/sampling.h"

namespace mneme::tasks {
namespace {

constexpr std::int32_t kEnd = 0;

class VocabMajority : public Task {
 public:
  explicit VocabMajority(const Options& options)
      : length_(options.integer("length")), vocab_(options.integer("vocab")) {}

  TaskShape shape() const override { return {.length = length_, .vocab = vocab_, .classes = vocab_, .labelled = 1}; }

  double chance() const override { return 1.0 / static_cast<double>(vocab_ - 1); }

  void generate(Random& random, const ExampleView& out) const override {
    const auto body = out.tokens.first(out.tokens.size() - 1);
    fill_uniform(random, 1, static_cast<std::uint32_t>(vocab_ - 1), body);
    out.tokens.back() = kEnd;
    const auto [winner, is_tie] = most_frequent(body);
    // A tie is broken in the sequence itself: the first other token becomes the winner.
    if (is_tie)
      *std::find_if(body.begin(), body.end(), [best = winner](std::int32_t token) { return token != best; }) = winner;
    std::fill(out.labels.begin(), out.labels.end(), kUnlabelled);
    out.labels.back() = winner;
  }

  std::vector<std::int32_t> solve(std::span<const std::int32_t> tokens) const override {
    std::vector<std::int32_t> labels(tokens.size(), kUnlabelled);
    labels.back() = most_frequent(tokens.first(tokens.size() - 1)).token;
    return labels;
  }

  std::vector<Role> roles(const ExampleView& example) const override {
    std::vector<Role> roles(example.tokens.size(), Role::filler);
    for (std::size_t t = 0; t + 1 < roles.size(); ++t)
      if (example.tokens[t] == example.labels.back()) roles[t] = Role::data;
    roles.back() = Role::query;
    return roles;
  }

  std::string token_text(std::int32_t token) const override { return token == kEnd ? "?" : std::to_string(token); }

  bool needs_positions() const override { return false; }

 private:
  struct Winner {
    std::int32_t token;
    bool is_tie;
  };

  // The most frequent token, the smallest of several.
  Winner most_frequent(std::span<const std::int32_t> body) const {
    thread_local std::vector<std::uint32_t> counts;
    counts.resize(std::max(counts.size(), static_cast<std::size_t>(vocab_)), 0);
    Winner winner{body[0], false};
    std::uint32_t most = 0;
    for (const std::int32_t token : body) {
      const std::uint32_t count = ++counts[static_cast<std::size_t>(token)];
      if (count > most || (count == most && token < winner.token)) winner.token = token;
      winner.is_tie = count == most || (count < most && winner.is_tie);
      most = std::max(most, count);
    }
    for (const std::int32_t token : body) counts[static_cast<std::size_t>(token)] = 0;
    return winner;
  }

  std::int64_t length_, vocab_;
};

std::unique_ptr<Task> build(const Options& options) { return std::make_unique<VocabMajority>(options); }

}  // namespace

TaskEntry vocab_majority_entry() {
  return {
      .name = "vocab_majority",
      .summary = "the most frequent token of the sequence, labelled at the end",
      .citation = "Arora et al. 2023, Zoology (circuits in its code)",
      .layout =
          "length - 1 random tokens from 1..vocab-1, then the end token 0, labelled with the most frequent one.\nTies "
          "are broken: the smallest of the most frequent tokens replaces the first token that differs from it.",
      .options =
          {
              integer_field("length", 64, 2, 1 << 22, "tokens in a sequence, the end token included"),
              integer_field("vocab", 16, 3, 1 << 20, "number of tokens, the end token included"),
          },
      .metrics = {"accuracy"},
      .axes = {{"length", {128, 256, 512, 1024}, "longer sequences"}},
      .build = build,
  };
}

}  // namespace mneme::tasks
