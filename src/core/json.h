// JSON as Mneme uses it: sorted keys, so that dump() of equal values gives equal bytes.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace mneme {

using Json = nlohmann::json;

// One line, keys sorted, shortest numbers that read back equal: what run ids are hashed from.
// Throws Error(data) for what JSON cannot hold: a number that is not finite, text that is not UTF-8.
std::string canonical(const Json& value);

// Nesting beyond this is refused, so that code that walks a value may recurse.
inline constexpr int kMaxJsonDepth = 256;

// Parses a text; throws Error(data) "[where] ..." with the byte position.
Json parse_json(std::string_view text, std::string_view where);

}  // namespace mneme
