#include "tasks/copying.h"

#include <algorithm>
#include <numeric>

#include "tasks/sampling.h"

namespace mneme::tasks {
namespace {

constexpr std::int32_t kBlank = 0;

class Copying : public Task {
 public:
  Copying(const Options& options, bool scattered)
      : patterns_(options.integers("pattern")),
        blanks_(options.integers("blanks")),
        symbols_(static_cast<std::int32_t>(options.integer("symbols"))),
        ask_all_(options.text("loss") == "all"),
        scattered_(scattered),
        longest_pattern_(*std::max_element(patterns_.begin(), patterns_.end())),
        longest_blanks_(*std::max_element(blanks_.begin(), blanks_.end())) {}

  TaskShape shape() const override {
    const double pattern = mean(patterns_), blanks = mean(blanks_);
    return {.length = longest_blanks_ + 2 * longest_pattern_,
            .vocab = symbols_ + 3,
            .classes = symbols_ + 2,
            .labelled = ask_all_ ? blanks + 2 * pattern : pattern};
  }

  double chance() const override {
    const double pattern = mean(patterns_), guess = 1.0 / symbols_;
    if (!ask_all_) return guess;
    // Everything but the pattern is answered with blank, without any memory.
    const double positions = mean(blanks_) + 2 * pattern;
    return (positions - pattern + pattern * guess) / positions;
  }

  void generate(Random& random, const ExampleView& out) const override {
    const std::size_t pattern = pick(random, patterns_), blanks = pick(random, blanks_);
    const std::size_t before = pattern + blanks - 1, length = blanks + 2 * pattern;
    const auto answers = out.labels.subspan(length - pattern, pattern);
    fill_uniform(random, 1, static_cast<std::uint32_t>(symbols_), answers);

    std::fill(out.tokens.begin(), out.tokens.begin() + static_cast<std::ptrdiff_t>(length), kBlank);
    std::fill(out.tokens.begin() + static_cast<std::ptrdiff_t>(length), out.tokens.end(), padding());
    out.tokens[before] = indicator();
    if (scattered_)
      scatter_in_order(random, answers, out.tokens.first(before));
    else
      std::copy(answers.begin(), answers.end(), out.tokens.begin());

    const auto others = out.labels.first(length - pattern);
    std::fill(others.begin(), others.end(), ask_all_ ? kBlank : kUnlabelled);
    const auto rest = out.labels.subspan(length);
    std::fill(rest.begin(), rest.end(), kUnlabelled);
  }

  std::vector<std::int32_t> solve(std::span<const std::int32_t> tokens) const override {
    std::vector<std::int32_t> labels(tokens.size(), kUnlabelled);
    std::vector<std::int32_t> pattern;
    std::size_t t = 0;
    for (; tokens[t] != indicator(); ++t) {
      if (ask_all_) labels[t] = kBlank;
      if (tokens[t] != kBlank) pattern.push_back(tokens[t]);
    }
    if (ask_all_) labels[t] = kBlank;
    std::copy(pattern.begin(), pattern.end(), labels.begin() + static_cast<std::ptrdiff_t>(t + 1));
    return labels;
  }

  std::vector<Role> roles(const ExampleView& example) const override {
    std::vector<Role> roles(example.tokens.size(), Role::filler);
    bool recall = false;
    for (std::size_t t = 0; t < roles.size(); ++t) {
      const std::int32_t token = example.tokens[t];
      if (token == padding())
        roles[t] = Role::padding;
      else if (token == indicator())
        roles[t] = Role::marker, recall = true;
      else if (recall)
        roles[t] = Role::answer;
      else if (token != kBlank)
        roles[t] = Role::data;
    }
    return roles;
  }

  std::vector<std::int32_t> sources(const ExampleView& example) const override {
    std::vector<std::int32_t> sources(example.tokens.size(), -1);
    std::size_t next = 0;
    while (example.tokens[next] != indicator()) ++next;
    for (std::size_t t = 0; example.tokens[t] != indicator(); ++t)
      if (example.tokens[t] != kBlank) sources[++next] = static_cast<std::int32_t>(t);
    return sources;
  }

  std::string token_text(std::int32_t token) const override {
    if (token == kBlank) return "_";
    if (token == indicator()) return ">";
    return token == padding() ? "*" : std::to_string(token);
  }

 private:
  static double mean(const std::vector<std::int64_t>& values) {
    return static_cast<double>(std::accumulate(values.begin(), values.end(), std::int64_t{0})) /
           static_cast<double>(values.size());
  }
  static std::size_t pick(Random& random, const std::vector<std::int64_t>& values) {
    const std::size_t which = values.size() == 1 ? 0 : random.below(static_cast<std::uint32_t>(values.size()));
    return static_cast<std::size_t>(values[which]);
  }

  std::int32_t indicator() const { return symbols_ + 1; }
  std::int32_t padding() const { return symbols_ + 2; }

  std::vector<std::int64_t> patterns_, blanks_;
  std::int32_t symbols_;
  bool ask_all_, scattered_;
  std::int64_t longest_pattern_, longest_blanks_;
};

Schema copying_options() {
  return {
      integers_field("pattern", Json::array({10}), 1, 1 << 20, "data tokens to remember; a list is a mixture"),
      integers_field("blanks", Json::array({10, 20, 30, 40, 50}), 1, 1 << 20,
                     "steps to remember them for; a list is a mixture"),
      integer_field("symbols", 8, 1, 1 << 16, "different data tokens: 1..symbols"),
      choice_field("loss", "recall", {"recall", "all"},
                   "label the pattern only, or label every other position with a blank too"),
  };
}

std::vector<GeneralisationAxis> copying_axes() {
  return {{"blanks", {50, 100, 150, 200, 250, 300, 350, 400, 450, 500}, "a longer time to remember"},
          {"pattern", {10, 20, 30, 40, 50, 60, 70, 80, 90, 100}, "more to remember"}};
}

std::vector<std::string> copying_metrics() {
  return {"accuracy", "exact_match", "accuracy_by_position", "accuracy_by_distance"};
}

}  // namespace

TaskEntry copying_entry() {
  return {
      .name = "copying",
      .summary = "remember a pattern over a stretch of blanks, then repeat it",
      .citation = "Arjovsky et al. 2016, Unitary Evolution Recurrent Neural Networks; Hochreiter and Schmidhuber 1997",
      .layout =
          "pattern data tokens | blanks - 1 blanks | indicator | pattern blanks, labelled with the data in "
          "order.\nTokens: blank 0, data 1..symbols, indicator symbols + 1, padding symbols + 2. Length blanks + 2 * "
          "pattern.",
      .options = copying_options(),
      .metrics = copying_metrics(),
      .axes = copying_axes(),
      .build = [](const Options& options) -> std::unique_ptr<Task> {
        return std::make_unique<Copying>(options, false);
      },
  };
}

TaskEntry denoising_entry() {
  return {
      .name = "denoising",
      .summary = "remember data scattered among blanks, then repeat them",
      .citation = "Jing et al. 2019, Gated Orthogonal Recurrent Units (denoise); also called selective copying",
      .layout =
          "pattern data tokens at random positions among blanks - 1 blanks | indicator | pattern blanks,\n"
          "labelled with the data in order. Tokens: blank 0, data 1..symbols, indicator symbols + 1, padding symbols + "
          "2.\n"
          "Length blanks + 2 * pattern.",
      .options = copying_options(),
      .metrics = copying_metrics(),
      .axes = copying_axes(),
      .build = [](const Options& options) -> std::unique_ptr<Task> { return std::make_unique<Copying>(options, true); },
  };
}

}  // namespace mneme::tasks
