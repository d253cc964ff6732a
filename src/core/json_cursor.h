// Reading JSON of a known shape straight from its text, without building a tree.
//
// For formats whose grammar is fixed (the header of a safetensors file): the caller says what must come
// next, anything else is an Error(data) that names the byte. There is no recursion, so nesting cannot
// exhaust the stack, and nothing is allocated but the strings that are asked for. Strings and numbers
// are read to the letter of RFC 8259. Whether a key may come twice is the caller's to check.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace mneme {

class JsonCursor {
 public:
  // `text` must outlive the cursor. `where` begins every message.
  JsonCursor(std::string_view text, std::string_view where) : text_(text), where_(where) {}

  // Calls member(key) for each member; it must read the value. `what` names the object in messages.
  template <typename Member>
  void object(std::string_view what, Member&& member) {
    open('{', what);
    for (bool first = true; more('}', first); first = false) {
      const std::string key = string("a key in quotes");
      expect(':');
      member(key);
    }
  }

  // Calls item() for each item; it must read the value.
  template <typename Item>
  void array(std::string_view what, Item&& item) {
    open('[', what);
    for (bool first = true; more(']', first); first = false) item();
  }

  std::string string(std::string_view what);
  // An integer from 0 to 2^64-1, without sign, point or exponent.
  std::uint64_t natural(std::string_view what);
  // Nothing may follow but spaces.
  void end();

  // "[where] what, got X, expected ..." at the present byte.
  [[noreturn]] void fail(std::string_view expected) const;

 private:
  void skip_whitespace();
  void open(char bracket, std::string_view what);
  bool more(char bracket, bool first);
  void expect(char letter);
  std::uint32_t hex_digits();
  void append_escape(std::string& into);

  std::string_view text_;
  std::string_view where_;
  std::size_t at_ = 0;
};

}  // namespace mneme
