#include "core/text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

namespace mneme {
namespace {

// The length of the well-formed character at the start of a non-empty text, or 0.
std::size_t utf8_character(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i)
    if ((byte(i) & 0xC0) != 0x80) return 0;
  // Overlong forms, surrogates and what lies beyond U+10FFFF show in the second byte.
  const unsigned second = byte(1);
  if ((first == 0xE0 && second < 0xA0) || (first == 0xED && second > 0x9F)) return 0;
  if ((first == 0xF0 && second < 0x90) || (first == 0xF4 && second > 0x8F)) return 0;
  return length;
}

}  // namespace

std::size_t utf8_prefix(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size()) {
    if (static_cast<unsigned char>(text[at]) < 0x80) {
      ++at;
      continue;
    }
    const std::size_t length = utf8_character(text.substr(at));
    if (length == 0) break;
    at += length;
  }
  return at;
}

std::string shortened(std::string_view text, std::size_t limit) {
  if (text.size() <= limit) return std::string(text);
  std::size_t end = limit - 3;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return std::string(text.substr(0, end)) + "...";
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  // Optimal string alignment: three rows are enough, the oldest serves transpositions.
  std::vector<std::size_t> older(b.size() + 1), previous(b.size() + 1), current(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) previous[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    current[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substitution = previous[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      current[j] = std::min({previous[j] + 1, current[j - 1] + 1, substitution});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        current[j] = std::min(current[j], older[j - 2] + 1);
    }
    std::swap(older, previous);
    std::swap(previous, current);
  }
  return previous[b.size()];
}

std::string nearest(std::string_view word, std::span<const std::string> known) {
  std::string best;
  // A third of the letters may be wrong: beyond that a suggestion misleads.
  std::size_t limit = std::max<std::size_t>(1, word.size() / 3) + 1;
  for (const std::string& candidate : known) {
    const std::size_t distance = edit_distance(word, candidate);
    if (distance < limit) {
      limit = distance;
      best = candidate;
    }
  }
  return best;
}

std::string suggestion(std::string_view word, std::span<const std::string> known) {
  if (const std::string near = nearest(word, known); !near.empty()) return fmt::format(", did you mean '{}'?", near);
  return fmt::format("; known: {}", join(known, ", "));
}

std::string join(std::span<const std::string> parts, std::string_view separator) {
  return fmt::format("{}", fmt::join(parts, separator));
}

std::string wrapped(std::string_view text, std::size_t columns, std::size_t indent) {
  std::string result;
  std::size_t used = indent;
  for (const std::string& word : split(text, ' ')) {
    if (used > indent && used + 1 + word.size() > columns) {
      result += "\n" + std::string(indent, ' ');
      used = indent;
    }
    if (used > indent) {
      result += ' ';
      ++used;
    }
    result += word;
    used += word.size();
  }
  return result;
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  std::size_t start = 0;
  for (;;) {
    const std::size_t end = text.find(separator, start);
    parts.emplace_back(text.substr(start, end - start));
    if (end == text.npos) return parts;
    start = end + 1;
  }
}

std::string without_passwords(std::string_view text) {
  constexpr std::string_view kScheme = "://", kOption = "password=", kHidden = "***";
  std::string shown(text);
  const auto word_end = [&](std::size_t from) { return std::min(shown.find_first_of(" \t\n'\"", from), shown.size()); };
  for (std::size_t at = 0; (at = shown.find(kScheme, at)) != shown.npos;) {
    at += kScheme.size();
    const std::size_t end = word_end(at), sign = shown.rfind('@', end), colon = shown.find(':', at);
    if (sign != shown.npos && colon < sign && sign < end) shown.replace(colon + 1, sign - colon - 1, kHidden);
  }
  for (std::size_t at = 0; (at = shown.find(kOption, at)) != shown.npos;) {
    at += kOption.size();
    shown.replace(at, std::min(shown.find('&', at), word_end(at)) - at, kHidden);
  }
  return shown;
}

std::string grouped(std::int64_t value) {
  // Negated as unsigned: the smallest integer has no positive twin.
  const auto magnitude = static_cast<std::uint64_t>(value);
  std::string digits = fmt::format("{}", value < 0 ? -magnitude : magnitude);
  for (auto at = static_cast<std::int64_t>(digits.size()) - 3; at > 0; at -= 3)
    digits.insert(static_cast<std::size_t>(at), 1, ',');
  return value < 0 ? "-" + digits : digits;
}

std::string duration(double seconds) {
  if (!(std::abs(seconds) < 1e15)) return "?";
  if (seconds < 9.95) return fmt::format("{:.1f} s", seconds);
  const auto whole = static_cast<std::int64_t>(std::llround(seconds));
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  return fmt::format("{} h {:02} min", whole / 3600, whole % 3600 / 60);
}

}  // namespace mneme
