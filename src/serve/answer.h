// What the server answers with.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/json.h"

namespace mneme::serve {

struct Answer {
  int status = 200;
  std::string type = "application/json";
  std::shared_ptr<const std::string> body;  // shared: one body serves many connections
  std::string tag;                          // of the body, for If-None-Match; "": none
  std::vector<std::pair<std::string, std::string>> fields = {};
};

// Text that is not UTF-8 is repaired, numbers that are not finite are null.
Answer json_answer(const Json& value, int status = 200);
// {"error": {"message", "expected"}}.
Answer error_answer(int status, std::string_view message, std::string_view expected = "");
Answer text_answer(std::string_view type, std::string body);

// No script and no style but our own files, nothing from anywhere else.
inline constexpr std::string_view kContentPolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
    "connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

// Status line and fields up to the empty line, with everything that keeps a browser from misusing the answer. There is
// no field of CORS: no other site may read it. Without `length` the body ends with the connection.
enum class Length { known, open };
std::string head_of(const Answer& answer, bool keep_alive, Length length = Length::known);

}  // namespace mneme::serve
