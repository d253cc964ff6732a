#include "core/json.h"

#include <fmt/format.h>

#include "core/error.h"

namespace mneme {

std::string canonical(const Json& value) { return value.dump(); }

Json parse_json(std::string_view text, std::string_view where) {
  try {
    return Json::parse(text);
  } catch (const Json::parse_error& error) {
    throw Error(ErrorKind::data, where,
                fmt::format("not valid JSON at byte {}, expected a JSON value", error.byte));
  }
}

}  // namespace mneme
