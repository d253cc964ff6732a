// JSON as Mneme uses it: sorted keys, so that dump() of equal values gives equal bytes.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace mneme {

using Json = nlohmann::json;

// One line, keys sorted, shortest numbers that read back equal: what run ids are hashed from.
std::string canonical(const Json& value);

// Parses a text; throws Error(data) "[where] ..." with the byte position.
Json parse_json(std::string_view text, std::string_view where);

}  // namespace mneme
