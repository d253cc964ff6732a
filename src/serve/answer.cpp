#include "serve/answer.h"

#include <fmt/format.h>

#include "core/hash.h"

namespace mneme::serve {
namespace {

std::string_view reason_of(int status) {
  switch (status) {
    case 200: return "OK";
    case 303: return "See Other";
    case 304: return "Not Modified";
    case 400: return "Bad Request";
    case 403: return "Forbidden";
    case 404: return "Not Found";
    case 405: return "Method Not Allowed";
    case 408: return "Request Timeout";
    case 413: return "Content Too Large";
    case 421: return "Misdirected Request";
    case 431: return "Request Header Fields Too Large";
    case 500: return "Internal Server Error";
    case 503: return "Service Unavailable";
  }
  return "Unknown";
}

}  // namespace

Answer text_answer(std::string_view type, std::string body) {
  Answer answer;
  answer.type = type;
  answer.tag = "\"" + sha256_hex(body).substr(0, 24) + "\"";
  answer.body = std::make_shared<const std::string>(std::move(body));
  return answer;
}

Answer json_answer(const Json& value, int status) {
  Answer answer = text_answer("application/json", value.dump(-1, ' ', false, Json::error_handler_t::replace));
  answer.status = status;
  if (status != 200) answer.tag.clear();
  return answer;
}

Answer error_answer(int status, std::string_view message, std::string_view expected) {
  return json_answer({{"error", {{"message", message}, {"expected", expected}}}}, status);
}

std::string head_of(const Answer& answer, bool keep_alive, Length length) {
  std::string head = fmt::format(
      "HTTP/1.1 {} {}\r\n"
      "Content-Type: {}{}\r\n"
      "Content-Security-Policy: {}\r\n"
      "X-Content-Type-Options: nosniff\r\n"
      "X-Frame-Options: DENY\r\n"
      "Referrer-Policy: no-referrer\r\n"
      "Cross-Origin-Opener-Policy: same-origin\r\n"
      "Cross-Origin-Resource-Policy: same-origin\r\n"
      "Cache-Control: {}\r\n"
      "Connection: {}\r\n",
      answer.status, reason_of(answer.status), answer.type, answer.type == "application/json" ? "" : "; charset=utf-8",
      kContentPolicy, answer.tag.empty() ? "no-store" : "no-cache", keep_alive ? "keep-alive" : "close");
  if (!answer.tag.empty()) head += fmt::format("ETag: {}\r\n", answer.tag);
  for (const auto& [name, value] : answer.fields) head += fmt::format("{}: {}\r\n", name, value);
  // An answer 304 has no body, whatever length it would have had.
  if (length == Length::known && answer.status != 304)
    head += fmt::format("Content-Length: {}\r\n", answer.body ? answer.body->size() : 0);
  return head + "\r\n";
}

}  // namespace mneme::serve
