// The strings of the copy task: how one is made, and how it is read back.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/random.h"
#include "core/schema.h"

namespace mneme::tasks {

enum class CopyVariant { copy, prefix_ngram, suffix_ngram, duplicate_ngram };

// One written string: `$ s | s .` or its variants; positions count from the start of the text.
struct CopyPiece {
  std::size_t begin = 0;   // of `$`
  std::size_t string = 0;  // first letter of s
  std::size_t string_length = 0;
  std::size_t ngram = 0;          // first letter of the n-gram, where there is one
  std::size_t source = 0;         // the letter of s where the answer starts
  std::size_t answer = 0;         // where the answer is written
  std::size_t answer_length = 0;  // letters, without the `.` that closes it
  std::size_t end() const { return answer + answer_length + 1; }
};

// Tokens: letters 0..letters-1, then `$`, `|`, `.`, `*` (padding).
class CopyStrings {
 public:
  explicit CopyStrings(const Options& options);

  std::int32_t begin() const { return letters_; }
  std::int32_t bar() const { return letters_ + 1; }
  std::int32_t stop() const { return letters_ + 2; }
  std::int32_t padding() const { return letters_ + 3; }

  // Appends one random text of the variant to `text`.
  CopyPiece append(Random& random, std::vector<std::int32_t>& text) const;

  // Reads the text that starts at `begin`, whose answer may be cut off or missing; nothing if the text is
  // too short to tell the answer.
  std::optional<CopyPiece> read(std::span<const std::int32_t> text, std::size_t begin) const;

  // Tokens of the longest text, `$` and `.` included.
  std::int64_t longest() const;
  std::size_t ngram_length() const { return has_ngram() ? static_cast<std::size_t>(ngram_) : 0; }

 private:
  bool has_ngram() const { return variant_ == CopyVariant::prefix_ngram || variant_ == CopyVariant::suffix_ngram; }
  void draw_string(Random& random, std::span<std::int32_t> string) const;
  // Copies one of the string's n-grams into `quote`; where in the string what follows it starts.
  std::size_t quote_ngram(Random& random, std::span<std::int32_t> string, std::span<std::int32_t> quote) const;
  // Replaces one n-gram of the string by another one of it, everywhere.
  void duplicate_ngram(Random& random, std::span<std::int32_t> string) const;
  std::size_t choices(std::size_t length) const;
  std::size_t answer_length(std::size_t rest) const;

  CopyVariant variant_;
  std::int32_t letters_;
  std::int64_t min_length_, max_length_, ngram_, answer_;
};

}  // namespace mneme::tasks
