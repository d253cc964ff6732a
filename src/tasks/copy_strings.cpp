#include "tasks/copy_strings.h"

#include <fmt/format.h>

#include <algorithm>

#include "tasks/sampling.h"

namespace mneme::tasks {
namespace {

using String = std::span<std::int32_t>;

// How often a string without any unique n-gram is drawn again.
constexpr int kTries = 10;

CopyVariant parse_variant(const Options& options) {
  const std::string name = options.text("variant");
  if (name == "prefix_ngram") return CopyVariant::prefix_ngram;
  if (name == "suffix_ngram") return CopyVariant::suffix_ngram;
  return name == "duplicate_ngram" ? CopyVariant::duplicate_ngram : CopyVariant::copy;
}

bool same(std::span<const std::int32_t> a, std::span<const std::int32_t> b) {
  return std::equal(a.begin(), a.end(), b.begin());
}

// True if one of the n-grams that start at 0..starts-1 differs from all the others.
bool has_unique_ngram(String string, std::size_t n, std::size_t starts) {
  for (std::size_t i = 0; i < starts; ++i) {
    bool unique = true;
    for (std::size_t j = 0; j < starts && unique; ++j)
      unique = i == j || !same(string.subspan(i, n), string.subspan(j, n));
    if (unique) return true;
  }
  return false;
}

// Replaces each occurrence of one n-gram by another, from left to right.
void replace_ngram(String string, std::span<const std::int32_t> old, std::span<const std::int32_t> fresh) {
  for (std::size_t at = 0; at + old.size() <= string.size();) {
    if (same(string.subspan(at, old.size()), old)) {
      std::copy(fresh.begin(), fresh.end(), string.begin() + static_cast<std::ptrdiff_t>(at));
      at += old.size();
    } else {
      ++at;
    }
  }
}

}  // namespace

CopyStrings::CopyStrings(const Options& options)
    : variant_(parse_variant(options)),
      letters_(static_cast<std::int32_t>(options.integer("letters"))),
      min_length_(options.integer("min_length")),
      max_length_(options.integer("max_length")),
      ngram_(options.integer("ngram")),
      answer_(options.integer("answer")) {
  if (max_length_ < min_length_) options.reject("max_length", fmt::format("at least min_length = {}", min_length_));
  if (variant_ == CopyVariant::duplicate_ngram && answer_ > 0)
    options.reject("answer", "0 with duplicate_ngram: the whole string is the answer");
  // An n-gram is chosen from at least two, none of them at the very end.
  const std::int64_t least = variant_ == CopyVariant::copy ? std::max<std::int64_t>(answer_, 1) : ngram_ + answer_ + 3;
  if (min_length_ < least)
    options.reject("min_length", fmt::format("at least {} for this variant, ngram and answer", least));
  if (variant_ != CopyVariant::copy && letters_ < 2)
    options.reject("letters", "at least 2: with one letter no n-gram is unique");
}

// How many n-grams of a string of this length there are to choose from.
std::size_t CopyStrings::choices(std::size_t length) const {
  return length - static_cast<std::size_t>(ngram_ + answer_) - 1;
}

std::size_t CopyStrings::answer_length(std::size_t rest) const {
  return answer_ > 0 ? std::min(rest, static_cast<std::size_t>(answer_)) : rest;
}

std::int64_t CopyStrings::longest() const {
  const std::int64_t answer = answer_ > 0 ? answer_ : max_length_ - static_cast<std::int64_t>(ngram_length());
  const std::int64_t marks = variant_ == CopyVariant::prefix_ngram ? 4 : 3;
  return marks + static_cast<std::int64_t>(ngram_length()) + max_length_ + answer;
}

void CopyStrings::draw_string(Random& random, String string) const {
  const auto n = static_cast<std::size_t>(ngram_);
  for (int tries = 0; tries < kTries; ++tries) {
    fill_uniform(random, 0, static_cast<std::uint32_t>(letters_), string);
    if (variant_ == CopyVariant::copy || has_unique_ngram(string, n, choices(string.size()))) return;
  }
}

CopyPiece CopyStrings::append(Random& random, std::vector<std::int32_t>& text) const {
  const auto length = static_cast<std::size_t>(uniform_between(random, min_length_, max_length_));
  const bool prefix = variant_ == CopyVariant::prefix_ngram;
  CopyPiece piece{.begin = text.size(), .string_length = length};
  text.push_back(begin());
  piece.string = text.size() + (prefix ? ngram_length() + 1 : 0);
  piece.ngram = prefix ? text.size() : piece.string + length + 1;
  piece.answer = piece.string + length + 1 + (prefix ? 0 : ngram_length());
  text.resize(piece.answer);
  text[piece.string + length] = bar();

  const String string = String(text).subspan(piece.string, length);
  draw_string(random, string);
  if (variant_ == CopyVariant::duplicate_ngram) duplicate_ngram(random, string);
  std::size_t start = 0;  // of the answer, in the string
  if (has_ngram()) {
    if (prefix) text[piece.string - 1] = bar();
    start = quote_ngram(random, string, String(text).subspan(piece.ngram, ngram_length()));
  }
  piece.source = piece.string + start;
  piece.answer_length = answer_length(length - start);
  text.resize(piece.end());
  for (std::size_t i = 0; i < piece.answer_length; ++i) text[piece.answer + i] = text[piece.source + i];
  text.back() = stop();
  return piece;
}

std::size_t CopyStrings::quote_ngram(Random& random, String string, String quote) const {
  const std::size_t pick = random.below(static_cast<std::uint32_t>(choices(string.size()) - 1));
  std::copy_n(string.begin() + static_cast<std::ptrdiff_t>(pick), quote.size(), quote.begin());
  // The n-gram may appear in the string more than once: the first one counts.
  const auto found = std::search(string.begin(), string.end(), quote.begin(), quote.end());
  return static_cast<std::size_t>(found - string.begin()) + quote.size();
}

void CopyStrings::duplicate_ngram(Random& random, String string) const {
  std::int32_t picks[2];
  sample_distinct(random, 0, static_cast<std::int32_t>(choices(string.size())) - 1, picks);
  const auto ngram = [&](std::int32_t pick) {
    return string.subspan(static_cast<std::size_t>(pick), static_cast<std::size_t>(ngram_));
  };
  thread_local std::vector<std::int32_t> old, fresh;
  fresh.assign(ngram(picks[0]).begin(), ngram(picks[0]).end());
  old.assign(ngram(picks[1]).begin(), ngram(picks[1]).end());
  replace_ngram(string, old, fresh);
}

std::optional<CopyPiece> CopyStrings::read(std::span<const std::int32_t> text, std::size_t from) const {
  const auto n = static_cast<std::size_t>(ngram_);
  const bool prefix = variant_ == CopyVariant::prefix_ngram, suffix = variant_ == CopyVariant::suffix_ngram;
  CopyPiece piece{.begin = from, .string = from + 1 + (prefix ? n + 1 : 0)};
  if (piece.string >= text.size()) return std::nullopt;
  const auto string = text.begin() + static_cast<std::ptrdiff_t>(piece.string);
  const auto end = std::find(string, text.end(), bar());
  if (end == text.end()) return std::nullopt;
  piece.string_length = static_cast<std::size_t>(end - string);
  piece.answer = piece.string + piece.string_length + 1 + (suffix ? n : 0);
  piece.ngram = prefix ? from + 1 : piece.string + piece.string_length + 1;
  piece.source = piece.string;
  if (has_ngram()) {
    if (piece.ngram + n > text.size()) return std::nullopt;
    const auto ngram = text.subspan(piece.ngram, n);
    const auto found = std::search(string, end, ngram.begin(), ngram.end());
    piece.source += std::min(static_cast<std::size_t>(found - string) + n, piece.string_length);
  }
  piece.answer_length = answer_length(piece.string + piece.string_length - piece.source);
  return piece;
}

}  // namespace mneme::tasks
