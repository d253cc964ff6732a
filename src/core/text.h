// Small text helpers shared by messages, tables and help.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mneme {

// Number of single-character edits between two words, transpositions counted as one.
std::size_t edit_distance(std::string_view a, std::string_view b);

// The known word nearest to `word`, or "" if none is close enough to be a likely misspelling.
std::string nearest(std::string_view word, std::span<const std::string> known);

// ", did you mean 'x'?" or, if nothing is near, "; known: a, b, c".
std::string suggestion(std::string_view word, std::span<const std::string> known);

std::string join(std::span<const std::string> parts, std::string_view separator);
// Broken at spaces into lines of at most `columns` bytes, all but the first indented.
std::string wrapped(std::string_view text, std::size_t columns, std::size_t indent);
std::vector<std::string> split(std::string_view text, char separator);

// How many bytes from the start are well-formed UTF-8: text.size() if all of them are.
std::size_t utf8_prefix(std::string_view text);
inline bool is_utf8(std::string_view text) { return utf8_prefix(text) == text.size(); }

// At most `limit` bytes (at least 4) of a text, cut between characters and ending in "..." if it was longer.
std::string shortened(std::string_view text, std::size_t limit);

// Addresses in the text with *** for what is between "://USER:" and the last "@", and after "password=".
std::string without_passwords(std::string_view text);

// 12345678 -> "12,345,678".
std::string grouped(std::int64_t value);

// Seconds for a person: "0.4 s", "12 s", "3 min 05 s", "2 h 10 min".
std::string duration(double seconds);

}  // namespace mneme
