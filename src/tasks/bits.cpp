#include "tasks/bits.h"

#include <algorithm>

#include "tasks/sampling.h"

namespace mneme::tasks {
namespace {

enum class Statistic { parity, majority };

constexpr std::int32_t kEnd = 2;

// C(m, m/2) / 2^m for even m: how often half of m coins show heads.
double tie_probability(std::int64_t m) {
  double probability = 1;
  for (std::int64_t i = 1; i <= m / 2; ++i) probability *= 1 - 1 / static_cast<double>(2 * i);
  return probability;
}

class Bits : public Task {
 public:
  Bits(const Options& options, Statistic statistic, bool cumulative)
      : length_(options.integer("length")), statistic_(statistic), cumulative_(cumulative) {}

  TaskShape shape() const override {
    return {.length = length_,
            .vocab = cumulative_ ? 2 : 3,
            .classes = 2,
            .labelled = cumulative_ ? static_cast<double>(length_) : 1};
  }

  double chance() const override {
    if (statistic_ == Statistic::parity) return 0.5;
    // A tie counts as 0 at the end, so that 0 is the better guess for an even number of bits.
    if (!cumulative_) return length_ % 2 == 0 ? 0.5 : 0.5 + tie_probability(length_ - 1) / 2;
    // At each step the newest bit is the best guess; it is right more often than not while it can decide.
    double right = 0, tie = 1;
    for (std::int64_t before = 0; before < length_; ++before) {
      if (before % 2 == 1) tie *= 1 - 1 / static_cast<double>(before + 1);
      right += 0.5 + tie / 2;
    }
    return right / static_cast<double>(length_);
  }

  void generate(Random& random, const ExampleView& out) const override {
    const auto bits = out.tokens.first(bit_count(out.tokens.size()));
    for (std::size_t t = 0; t < bits.size();) {
      std::uint32_t word = random.bits();
      for (int used = 0; used < 32 && t < bits.size(); ++used, word >>= 1)
        bits[t++] = static_cast<std::int32_t>(word & 1);
    }
    if (!cumulative_) out.tokens.back() = kEnd;
    label(out.tokens, out.labels);
  }

  std::vector<std::int32_t> solve(std::span<const std::int32_t> tokens) const override {
    std::vector<std::int32_t> labels(tokens.size());
    label(tokens, labels);
    return labels;
  }

  std::vector<Role> roles(const ExampleView& example) const override {
    std::vector<Role> roles(example.tokens.size(), Role::data);
    if (!cumulative_) roles.back() = Role::query;
    return roles;
  }

  std::string token_text(std::int32_t token) const override { return token == kEnd ? "?" : std::to_string(token); }

  bool needs_positions() const override { return cumulative_; }

 private:
  std::size_t bit_count(std::size_t length) const { return cumulative_ ? length : length - 1; }

  void label(std::span<const std::int32_t> tokens, std::span<std::int32_t> labels) const {
    std::size_t ones = 0;
    for (std::size_t t = 0; t < bit_count(tokens.size()); ++t) {
      ones += static_cast<std::size_t>(tokens[t]);
      // A prefix with as many ones as zeros counts as 1; the whole sequence must have more ones.
      const bool answer = statistic_ == Statistic::parity ? ones % 2 == 1 : 2 * ones >= t + 1;
      labels[t] = cumulative_ ? answer : kUnlabelled;
    }
    if (!cumulative_) labels.back() = statistic_ == Statistic::parity ? ones % 2 == 1 : 2 * ones > tokens.size() - 1;
  }

  std::int64_t length_;
  Statistic statistic_;
  bool cumulative_;
};

template <Statistic statistic, bool cumulative>
std::unique_ptr<Task> build(const Options& options) {
  return std::make_unique<Bits>(options, statistic, cumulative);
}

constexpr const char* kCitation = "Arora et al. 2023, Zoology (circuits in its code)";
std::vector<GeneralisationAxis> longer_sequences() { return {{"length", {128, 256, 512, 1024}, "longer sequences"}}; }

}  // namespace

TaskEntry parity_entry() {
  return {
      .name = "parity",
      .summary = "is the number of ones odd? One label, at the end",
      .citation = kCitation,
      .layout = "length - 1 random bits, then the end token 2, labelled with the parity of the ones.",
      .options = {integer_field("length", 64, 2, 1 << 22, "tokens in a sequence, the end token included")},
      .metrics = {"accuracy"},
      .axes = longer_sequences(),
      .build = build<Statistic::parity, false>,
  };
}

TaskEntry majority_entry() {
  return {
      .name = "majority",
      .summary = "are more than half of the bits ones? One label, at the end",
      .citation = kCitation,
      .layout = "length - 1 random bits, then the end token 2, labelled 1 if more than half are ones, else 0.",
      .options = {integer_field("length", 64, 2, 1 << 22, "tokens in a sequence, the end token included")},
      .metrics = {"accuracy"},
      .axes = longer_sequences(),
      .build = build<Statistic::majority, false>,
  };
}

TaskEntry cumulative_parity_entry() {
  return {
      .name = "cumulative_parity",
      .summary = "is the number of ones so far odd? One label per bit",
      .citation = kCitation,
      .layout = "length random bits, each labelled with the parity of the ones up to and including it.",
      .options = {integer_field("length", 64, 1, 1 << 22, "bits in a sequence")},
      .metrics = {"accuracy", "exact_match", "accuracy_by_position"},
      .axes = longer_sequences(),
      .build = build<Statistic::parity, true>,
  };
}

TaskEntry cumulative_majority_entry() {
  return {
      .name = "cumulative_majority",
      .summary = "are at least half of the bits so far ones? One label per bit",
      .citation = kCitation,
      .layout =
          "length random bits, each labelled 1 if at least half of the bits up to and including it are ones, else 0.",
      .options = {integer_field("length", 64, 1, 1 << 22, "bits in a sequence")},
      .metrics = {"accuracy", "exact_match", "accuracy_by_position"},
      .axes = longer_sequences(),
      .build = build<Statistic::majority, true>,
  };
}

}  // namespace mneme::tasks
