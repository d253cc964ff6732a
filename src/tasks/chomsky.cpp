#include "tasks/chomsky.h"

#include <fmt/format.h>

#include <algorithm>

#include "tasks/sampling.h"

namespace mneme::tasks {
namespace {

class Chomsky : public Task {
 public:
  Chomsky(const Options& options, std::unique_ptr<ChomskyRule> rule) : rule_(std::move(rule)) {
    const auto first = options.integer("min_length"), last = options.integer("max_length");
    if (last < first) options.reject("max_length", fmt::format("at least min_length = {}", first));
    for (auto n = static_cast<std::size_t>(first); n <= static_cast<std::size_t>(last); ++n)
      if (rule_->has_length(n)) lengths_.push_back(n);
    if (lengths_.empty()) options.reject("max_length", "a range with an odd length in it");
    labelled_ = average_asked();
  }

  TaskShape shape() const override {
    const std::size_t n = lengths_.back();
    return {.length = static_cast<std::int64_t>(n + rule_->answer_room(n)),
            .vocab = rule_->input_symbols() + 2,
            .classes = rule_->answer_symbols(),
            .labelled = labelled_};
  }

  double chance() const override { return rule_->chance(); }

  void generate(Random& random, const ExampleView& out) const override {
    const std::size_t n = lengths_[random.below(static_cast<std::uint32_t>(lengths_.size()))];
    rule_->draw(random, out.tokens.first(n));
    const auto room = out.labels.subspan(n);
    const std::size_t count = rule_->answer(out.tokens.first(n), room);
    std::fill_n(out.labels.begin(), n, kUnlabelled);
    std::fill(room.begin() + static_cast<std::ptrdiff_t>(count), room.end(), kUnlabelled);
    const auto rest = out.tokens.subspan(n);
    const auto empty = std::fill_n(rest.begin(), rule_->answer_room(n), empty_token());
    std::fill(empty, rest.end(), empty_token() + 1);
  }

  std::vector<std::int32_t> solve(std::span<const std::int32_t> tokens) const override {
    std::vector<std::int32_t> labels(tokens.size(), kUnlabelled);
    const std::size_t n = input_length(tokens);
    std::vector<std::int32_t> answer(rule_->answer_room(n));
    const std::size_t count = rule_->answer(tokens.first(n), answer);
    std::copy_n(answer.begin(), count, labels.begin() + static_cast<std::ptrdiff_t>(n));
    return labels;
  }

  std::vector<Role> roles(const ExampleView& example) const override {
    std::vector<Role> roles(example.tokens.size(), Role::data);
    for (std::size_t t = input_length(example.tokens); t < roles.size(); ++t)
      roles[t] = example.tokens[t] == empty_token() ? Role::answer : Role::padding;
    return roles;
  }

  std::string token_text(std::int32_t token) const override {
    if (token == empty_token()) return "_";
    return token > empty_token() ? "*" : rule_->symbol(token);
  }
  std::string label_text(std::int32_t label) const override { return rule_->answer_symbol(label); }

 private:
  std::int32_t empty_token() const { return rule_->input_symbols(); }

  std::size_t input_length(std::span<const std::int32_t> tokens) const {
    return static_cast<std::size_t>(std::find(tokens.begin(), tokens.end(), empty_token()) - tokens.begin());
  }

  // The length of an answer can depend on its input: measured on a stream of its own.
  double average_asked() const {
    std::size_t labels = 0;
    std::vector<std::int32_t> input(lengths_.back()), answer(rule_->answer_room(lengths_.back()));
    constexpr std::size_t kExamples = 64;
    for (std::size_t i = 0; i < kExamples; ++i) {
      Random random(stream_key(0, "chomsky/asked"), i);
      // Lengths evenly over the range: the answer's length is nearly proportional to it.
      const std::size_t n = lengths_[(2 * i + 1) * lengths_.size() / (2 * kExamples)];
      rule_->draw(random, std::span(input).first(n));
      labels += rule_->answer(std::span(input).first(n), answer);
    }
    return static_cast<double>(labels) / kExamples;
  }

  std::unique_ptr<ChomskyRule> rule_;
  std::vector<std::size_t> lengths_;
  double labelled_ = 0;
};

}  // namespace

std::unique_ptr<Task> build_chomsky(const Options& options, std::unique_ptr<ChomskyRule> rule) {
  return std::make_unique<Chomsky>(options, std::move(rule));
}

TaskEntry chomsky_entry(std::string name, std::string summary, std::string layout, std::int64_t shortest,
                        std::unique_ptr<Task> (*build)(const Options&), Schema extra) {
  const auto least = static_cast<double>(shortest);
  Schema options = {
      integer_field("min_length", shortest, least, 1 << 14, "symbols in the shortest input"),
      integer_field("max_length", 40, least, 1 << 14,
                    "symbols in the longest input; lengths are uniform between the two"),
  };
  options.insert(options.end(), extra.begin(), extra.end());
  return {
      .name = std::move(name),
      .summary = std::move(summary),
      .citation = "Deletang et al. 2023, Neural Networks and the Chomsky Hierarchy",
      .layout = std::move(layout),
      .options = std::move(options),
      .metrics = {"accuracy", "exact_match"},
      .axes = {{"max_length",
                {50, 60, 70, 80, 90, 100},
                "longer inputs, all of that length",
                [](Options& moved) { moved.set("min_length", moved.integer("max_length")); }}},
      .build = build,
  };
}

}  // namespace mneme::tasks
