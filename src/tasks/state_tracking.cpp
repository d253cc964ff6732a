#include "tasks/state_tracking.h"

#include <fmt/format.h>

#include <algorithm>

#include "tasks/groups.h"
#include "tasks/sampling.h"

namespace mneme::tasks {
namespace {

class StateTracking : public Task {
 public:
  StateTracking(const Options& options, Group group)
      : group_(std::move(group)),
        shortest_(options.integer("min_length")),
        longest_(options.integer("length")),
        start_(options.flag("bos") ? 1 : 0) {
    if (shortest_ == 0) shortest_ = longest_;
  }

  TaskShape shape() const override {
    const double mean = static_cast<double>(shortest_ + longest_) / 2;
    return {.length = longest_ + start_,
            .vocab = group_.order() + (start_                 ? 2
                                       : shortest_ < longest_ ? 1
                                                              : 0),
            .classes = group_.order() + (start_ ? 2 : 0),
            .labelled = mean + static_cast<double>(start_)};
  }

  double chance() const override { return 1.0 / static_cast<double>(group_.order()); }

  void generate(Random& random, const ExampleView& out) const override {
    const std::int64_t count = shortest_ == longest_ ? longest_ : uniform_between(random, shortest_, longest_);
    const auto begin = static_cast<std::size_t>(start_), end = begin + static_cast<std::size_t>(count);
    if (start_) out.tokens[0] = out.labels[0] = beginning();
    std::int32_t state = 0;
    for (std::size_t t = begin; t < end; ++t) {
      out.tokens[t] = static_cast<std::int32_t>(random.below(static_cast<std::uint32_t>(group_.order())));
      out.labels[t] = state = group_.product(state, out.tokens[t]);
    }
    for (std::size_t t = end; t < out.tokens.size(); ++t) {
      out.tokens[t] = padding();
      out.labels[t] = kUnlabelled;
    }
  }

  std::vector<std::int32_t> solve(std::span<const std::int32_t> tokens) const override {
    std::vector<std::int32_t> labels(tokens.size(), kUnlabelled);
    std::int32_t state = 0;
    for (std::size_t t = 0; t < tokens.size() && tokens[t] != padding(); ++t) {
      if (tokens[t] != beginning()) state = group_.product(state, tokens[t]);
      labels[t] = tokens[t] == beginning() ? beginning() : state;
    }
    return labels;
  }

  std::vector<Role> roles(const ExampleView& example) const override {
    std::vector<Role> roles(example.tokens.size(), Role::data);
    for (std::size_t t = 0; t < roles.size(); ++t) {
      if (example.tokens[t] == padding()) roles[t] = Role::padding;
      if (example.tokens[t] == beginning()) roles[t] = Role::marker;
    }
    return roles;
  }

  std::string token_text(std::int32_t token) const override {
    if (token == padding()) return "*";
    return token == beginning() ? "$" : std::to_string(token);
  }

 private:
  std::int32_t padding() const { return static_cast<std::int32_t>(group_.order()); }
  std::int32_t beginning() const { return padding() + 1; }

  Group group_;
  std::int64_t shortest_, longest_, start_;
};

std::unique_ptr<Task> build(const Options& options) {
  if (options.integer("min_length") > options.integer("length"))
    options.reject("min_length", fmt::format("at most length = {}", options.integer("length")));
  const std::string group = options.text("group");
  if (const std::string expected = Group::trouble(group); !expected.empty()) options.reject("group", expected);
  return std::make_unique<StateTracking>(options, Group::parse(group));
}

}  // namespace

TaskEntry state_tracking_entry() {
  return {
      .name = "state_tracking",
      .summary = "the running product of elements of a finite group",
      .citation = "Merrill et al. 2024, The Illusion of State in State-Space Models; Liu et al. 2023",
      .layout =
          "length elements x_1 x_2 ... of the group, uniform, each labelled with the product x_1 * ... * x_t.\n"
          "Elements are 0..order-1, identity 0, numbered as docs/tasks/state_tracking.md says.\n"
          "Padding is the token `order`, the beginning (option bos) `order + 1`, labelled with itself.",
      .options =
          {
              text_field("group", "A5", "Z_n, A_n, S_n or a product: Z60, A5, S3, A4xZ5; 2 to 2520 elements"),
              integer_field("length", 8, 1, 1 << 20, "elements in a sequence"),
              integer_field("min_length", 0, 0, 1 << 20,
                            "0: all are `length` long; else uniform from min_length to length"),
              flag_field("bos", false, "begin with a marker in input and answer, as the reference code does"),
          },
      .metrics = {"accuracy", "exact_match", "accuracy_by_position"},
      .axes = {{"length",
                {8, 16, 24, 32, 40, 64, 128, 256, 512},
                "longer words: 2x to 5x, then 64 to 512",
                [](Options& options) { options.set("min_length", 0); }}},
      .build = build,
  };
}

}  // namespace mneme::tasks
