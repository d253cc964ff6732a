#include "tasks/copy.h"

#include <fmt/format.h>

#include <algorithm>

#include "tasks/copy_strings.h"

namespace mneme::tasks {
namespace {

class Copy : public Task {
 public:
  explicit Copy(const Options& options)
      : strings_(options),
        context_(static_cast<std::size_t>(options.integer("context"))),
        letters_(options.integer("letters")) {
    if (strings_.longest() > options.integer("context"))
      options.reject("context", fmt::format("at least {}, the longest text", strings_.longest()));
    labelled_ = average_asked();
  }

  TaskShape shape() const override {
    return {.length = static_cast<std::int64_t>(context_) - 1,
            .vocab = letters_ + 4,
            .classes = letters_ + 4,
            .labelled = labelled_};
  }

  double chance() const override { return 1.0 / static_cast<double>(letters_); }

  // Texts one after another until the context is full; the last one is cut off and has no labels.
  void generate(Random& random, const ExampleView& out) const override {
    thread_local std::vector<std::int32_t> text;
    text.clear();
    std::fill(out.labels.begin(), out.labels.end(), kUnlabelled);
    while (text.size() < context_) {
      const CopyPiece piece = strings_.append(random, text);
      if (piece.end() <= context_) ask(text, piece, out.labels);
    }
    std::copy_n(text.begin(), out.tokens.size(), out.tokens.begin());
  }

  // One text, then padding.
  void generate_evaluation(Random& random, const ExampleView& out) const override {
    thread_local std::vector<std::int32_t> text;
    text.clear();
    std::fill(out.labels.begin(), out.labels.end(), kUnlabelled);
    ask(text, strings_.append(random, text), out.labels);
    text.resize(context_, strings_.padding());
    std::copy_n(text.begin(), out.tokens.size(), out.tokens.begin());
  }

  std::vector<std::int32_t> solve(std::span<const std::int32_t> tokens) const override {
    std::vector<std::int32_t> labels(tokens.size(), kUnlabelled);
    for (const CopyPiece& piece : pieces(tokens)) {
      if (piece.end() > context_) continue;
      for (std::size_t i = 0; i < piece.answer_length; ++i) labels[piece.answer - 1 + i] = tokens[piece.source + i];
      labels[piece.end() - 2] = strings_.stop();
    }
    return labels;
  }

  std::vector<Role> roles(const ExampleView& example) const override {
    std::vector<Role> roles(example.tokens.size(), Role::data);
    for (const CopyPiece& piece : pieces(example.tokens)) {
      for (std::size_t i = 0; i < strings_.ngram_length(); ++i) roles[piece.ngram + i] = Role::key;
      for (std::size_t t = piece.answer; t < std::min(piece.end(), roles.size()); ++t) roles[t] = Role::answer;
    }
    for (std::size_t t = 0; t < roles.size(); ++t) {
      if (example.tokens[t] == strings_.padding())
        roles[t] = Role::padding;
      else if (example.tokens[t] >= strings_.begin())
        roles[t] = Role::marker;
    }
    return roles;
  }

  std::vector<std::int32_t> sources(const ExampleView& example) const override {
    std::vector<std::int32_t> sources(example.tokens.size(), -1);
    for (const CopyPiece& piece : pieces(example.tokens))
      for (std::size_t i = 0; i < piece.answer_length && piece.end() <= context_; ++i)
        sources[piece.answer - 1 + i] = static_cast<std::int32_t>(piece.source + i);
    return sources;
  }

  std::string token_text(std::int32_t token) const override {
    if (token < strings_.begin()) return std::string(1, static_cast<char>('a' + token));
    return std::string(1, "$|.*"[token - strings_.begin()]);
  }

 private:
  // What the position before each letter of the answer, and before its `.`, must output.
  void ask(std::span<const std::int32_t> text, const CopyPiece& piece, std::span<std::int32_t> labels) const {
    for (std::size_t i = piece.answer; i < piece.end(); ++i) labels[i - 1] = text[i];
  }

  std::vector<CopyPiece> pieces(std::span<const std::int32_t> tokens) const {
    std::vector<CopyPiece> pieces;
    for (std::size_t at = 0; at < tokens.size() && tokens[at] == strings_.begin(); at = pieces.back().end()) {
      const auto piece = strings_.read(tokens, at);
      if (!piece) break;
      pieces.push_back(*piece);
    }
    return pieces;
  }

  // Depends on how texts of random lengths fill a context: measured on a stream of its own.
  double average_asked() const {
    const std::size_t contexts = std::clamp<std::size_t>((std::size_t{1} << 18) / context_, 8, 256);
    std::size_t labels = 0;
    std::vector<std::int32_t> text;
    for (std::size_t i = 0; i < contexts; ++i) {
      Random random(stream_key(0, "copy/asked"), i);
      text.clear();
      while (text.size() < context_) {
        const CopyPiece piece = strings_.append(random, text);
        if (piece.end() <= context_) labels += piece.answer_length + 1;
      }
    }
    return static_cast<double>(labels) / static_cast<double>(contexts);
  }

  CopyStrings strings_;
  std::size_t context_;
  std::int64_t letters_;
  double labelled_ = 0;
};

std::unique_ptr<Task> build(const Options& options) { return std::make_unique<Copy>(options); }

}  // namespace

std::int32_t copy_stop_label(const Options& options) { return CopyStrings(options).stop(); }

TaskEntry copy_entry() {
  return {
      .name = "copy",
      .summary = "repeat a string of letters, or what follows an n-gram of it",
      .citation = "Jelassi et al. 2024, Repeat After Me: Transformers are Better than State Space Models at Copying",
      .layout =
          "copy: $ s | s .   prefix_ngram: $ g | s | answer .   suffix_ngram: $ s | g answer .\n"
          "duplicate_ngram: copy of a string in which one n-gram was replaced by another everywhere.\n"
          "The answer is what follows the first g in s. The labels are the letters of the answer and the `.`, each "
          "one\n"
          "position early. Training: texts fill the context one after another, the last one is cut off and has no\n"
          "labels; validation and test: one text per sequence, padded with *. Tokens: letters from 0, then $ | . *",
      .options =
          {
              integer_field("min_length", 5, 1, 1 << 16, "letters in the shortest string"),
              integer_field("max_length", 20, 1, 1 << 16, "letters in the longest string"),
              integer_field("context", 220, 4, 1 << 20, "tokens in a training context; one more than inputs"),
              integer_field("letters", 26, 1, 26, "size of the alphabet"),
              choice_field("variant", "copy", {"copy", "prefix_ngram", "suffix_ngram", "duplicate_ngram"},
                           "what is written, see layout"),
              integer_field("ngram", 2, 1, 1 << 12, "letters of the n-gram; not used by variant copy"),
              integer_field("answer", 0, 0, 1 << 16, "letters of the answer; 0: all of it"),
          },
      .metrics = {"string_accuracy", "character_accuracy", "accuracy", "accuracy_by_position", "accuracy_by_distance"},
      .axes = {{"max_length",
                {20, 30, 40, 50, 100, 200, 300, 1000},
                "longer strings, all of that length",
                [](Options& options) {
                  const std::int64_t length = options.integer("max_length");
                  options.set("min_length", length);
                  options.set("context", std::max(options.integer("context"), 2 * length + 4));
                }}},
      .build = build,
  };
}

}  // namespace mneme::tasks
