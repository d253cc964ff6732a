#include "core/json.h"

#include <fmt/format.h>

#include <cmath>

#include "core/error.h"
#include "core/text.h"

namespace mneme {
namespace {

void check_utf8(const std::string& text) {
  if (!is_utf8(text)) throw Error(ErrorKind::data, "JSON", "a text that is not UTF-8");
}

void check_holdable(const Json& value) {
  if (value.is_number_float() && !std::isfinite(value.get<double>()))
    throw Error(ErrorKind::data, "JSON", "a number that is not finite, expected one that JSON can hold");
  if (value.is_string()) check_utf8(value.get_ref<const std::string&>());
  if (value.is_object())
    for (const auto& [key, member] : value.get_ref<const Json::object_t&>()) {
      check_utf8(key);
      check_holdable(member);
    }
  if (value.is_array())
    for (const auto& item : value) check_holdable(item);
}

// The byte of the bracket that opens the first level too many, or npos.
std::size_t too_deep(std::string_view text) {
  int depth = 0;
  bool quoted = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char letter = text[at];
    if (letter == '"') quoted = !quoted;
    if (quoted) {
      if (letter == '\\') ++at;
      continue;
    }
    if ((letter == '[' || letter == '{') && ++depth > kMaxJsonDepth) return at;
    if (letter == ']' || letter == '}') --depth;
  }
  return text.npos;
}

}  // namespace

std::string canonical(const Json& value) {
  check_holdable(value);
  return value.dump();
}

Json parse_json(std::string_view text, std::string_view where) {
  if (const std::size_t at = too_deep(text); at != text.npos)
    throw Error(ErrorKind::data, where,
                fmt::format("JSON nested too deeply at byte {}, expected at most {} levels", at + 1, kMaxJsonDepth));
  try {
    return Json::parse(text);
  } catch (const Json::parse_error& error) {
    throw Error(ErrorKind::data, where, fmt::format("not valid JSON at byte {}, expected a JSON value", error.byte));
  } catch (const Json::exception&) {
    // The one other thing that parsing refuses.
    throw Error(ErrorKind::data, where, "not usable JSON: a number is too large for a double");
  }
}

}  // namespace mneme
