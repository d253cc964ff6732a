#include "core/json_cursor.h"

#include <fmt/format.h>

#include "core/error.h"

namespace mneme {
namespace {

bool is_digit(char letter) { return letter >= '0' && letter <= '9'; }

void append_utf8(std::string& into, std::uint32_t code) {
  const auto put = [&](std::uint32_t byte) { into += static_cast<char>(byte); };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xC0 | code >> 6);
    put(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    put(0xE0 | code >> 12);
    put(0x80 | (code >> 6 & 0x3F));
    put(0x80 | (code & 0x3F));
  } else {
    put(0xF0 | code >> 18);
    put(0x80 | (code >> 12 & 0x3F));
    put(0x80 | (code >> 6 & 0x3F));
    put(0x80 | (code & 0x3F));
  }
}

}  // namespace

void JsonCursor::fail(std::string_view expected) const {
  std::string got = "the end";
  if (at_ < text_.size()) {
    const char letter = text_[at_];
    got = letter > ' ' && letter < 0x7F ? fmt::format("'{}'", letter)
                                        : fmt::format("0x{:02x}", static_cast<unsigned char>(letter));
  }
  throw Error(ErrorKind::data, where_, fmt::format("JSON byte {}: got {}, expected {}", at_, got, expected));
}

void JsonCursor::skip_whitespace() {
  while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t' || text_[at_] == '\r'))
    ++at_;
}

void JsonCursor::open(char bracket, std::string_view what) {
  skip_whitespace();
  if (at_ == text_.size() || text_[at_] != bracket) fail(what);
  ++at_;
}

bool JsonCursor::more(char bracket, bool first) {
  skip_whitespace();
  if (at_ < text_.size() && text_[at_] == bracket) {
    ++at_;
    return false;
  }
  if (!first) expect(',');
  return true;
}

void JsonCursor::expect(char letter) {
  skip_whitespace();
  if (at_ == text_.size() || text_[at_] != letter) fail(fmt::format("'{}'", letter));
  ++at_;
}

std::string JsonCursor::string(std::string_view what) {
  open('"', what);
  std::string value;
  for (;;) {
    const std::size_t start = at_;
    while (at_ < text_.size() && text_[at_] != '"' && text_[at_] != '\\' &&
           static_cast<unsigned char>(text_[at_]) >= 0x20)
      ++at_;
    value.append(text_.substr(start, at_ - start));
    if (at_ == text_.size()) fail("the closing quote of a string");
    if (text_[at_] == '"') break;
    if (text_[at_] != '\\') fail("control characters in a string to be escaped");
    ++at_;
    append_escape(value);
  }
  ++at_;
  return value;
}

std::uint32_t JsonCursor::hex_digits() {
  std::uint32_t value = 0;
  for (int i = 0; i < 4; ++i, ++at_) {
    const char letter = at_ < text_.size() ? text_[at_] : '\0';
    const char lower = static_cast<char>(letter | 0x20);
    if (is_digit(letter))
      value = value << 4 | static_cast<std::uint32_t>(letter - '0');
    else if (lower >= 'a' && lower <= 'f')
      value = value << 4 | static_cast<std::uint32_t>(lower - 'a' + 10);
    else
      fail("four hexadecimal digits");
  }
  return value;
}

void JsonCursor::append_escape(std::string& into) {
  const char letter = at_ < text_.size() ? text_[at_] : '\0';
  switch (letter) {
    case '"':
    case '\\':
    case '/': into += letter; break;
    case 'b': into += '\b'; break;
    case 'f': into += '\f'; break;
    case 'n': into += '\n'; break;
    case 'r': into += '\r'; break;
    case 't': into += '\t'; break;
    case 'u': {
      ++at_;
      std::uint32_t code = hex_digits();
      if (code >= 0xD800 && code < 0xE000) {
        if (code >= 0xDC00 || text_.substr(at_, 2) != "\\u") fail("a pair of surrogates");
        at_ += 2;
        const std::uint32_t lower = hex_digits();
        if (lower < 0xDC00 || lower >= 0xE000) fail("a pair of surrogates");
        code = 0x10000 + ((code - 0xD800) << 10) + (lower - 0xDC00);
      }
      append_utf8(into, code);
      return;
    }
    default: fail("an escape of JSON");
  }
  ++at_;
}

std::uint64_t JsonCursor::natural(std::string_view what) {
  skip_whitespace();
  if (at_ == text_.size() || !is_digit(text_[at_])) fail(what);
  const std::size_t start = at_;
  std::uint64_t value = 0;
  for (; at_ < text_.size() && is_digit(text_[at_]); ++at_) {
    const bool overflow = __builtin_mul_overflow(value, std::uint64_t{10}, &value) ||
                          __builtin_add_overflow(value, static_cast<std::uint64_t>(text_[at_] - '0'), &value);
    if (overflow) fail("an integer below 2^64");
  }
  if (text_[start] == '0' && at_ - start > 1) fail("an integer without leading zeros");
  if (at_ < text_.size() && (text_[at_] == '.' || text_[at_] == 'e' || text_[at_] == 'E'))
    fail("an integer without point or exponent");
  return value;
}

void JsonCursor::end() {
  while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  if (at_ < text_.size()) fail("nothing but spaces to the end");
}

}  // namespace mneme
