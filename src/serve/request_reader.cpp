#include "serve/request_reader.h"

#include <boost/asio/buffer.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/parser.hpp>

namespace mneme::serve {
namespace {

namespace http = boost::beast::http;

std::string text_of(const http::fields& fields, http::field name) {
  const auto value = fields[name];
  return {value.data(), value.size()};
}

std::string text_of(const http::fields& fields, const char* name) {
  const auto value = fields[name];
  return {value.data(), value.size()};
}

}  // namespace

struct RequestReader::Parser {
  Parser() {
    beast.header_limit(static_cast<std::uint32_t>(kMostHeaderBytes) + 1);
    beast.body_limit(0);
  }
  http::request_parser<http::empty_body> beast;
};

RequestReader::RequestReader() : parser_(std::make_unique<Parser>()) {}
RequestReader::~RequestReader() = default;

RequestReader::State RequestReader::feed(std::string_view bytes) {
  kept_ += bytes;
  if (state_ == State::waiting || state_ == State::begun) go_on();
  return state_;
}

// Whole lines only, and from the beginning each time one more has come: what becomes of a request must not depend on
// how its bytes were cut, and the parser looks less closely at what is given to it in pieces.
void RequestReader::go_on() {
  if (kept_.empty()) return;
  state_ = State::begun;
  const std::string_view window = std::string_view(kept_).substr(0, kMostHeaderBytes);
  const std::string_view lines = window.substr(0, window.rfind('\n') + 1);
  if (lines.size() > parsed_) {
    parsed_ = lines.size();
    parser_ = std::make_unique<Parser>();
    boost::system::error_code code;
    const std::size_t used = parser_->beast.put(boost::asio::buffer(lines), code);
    if (parser_->beast.is_header_done() && (!code || code == http::error::need_more)) {
      kept_.erase(0, used);
      return finish();
    }
    if (code == http::error::body_limit) return refuse(413, "request with a body, expected none");
    if (code && code != http::error::need_more) return refuse(400, "malformed request: " + code.message());
  }
  // Another protocol may never end a line.
  for (const char letter : window)
    if (static_cast<unsigned char>(letter) < ' ' && letter != '\r' && letter != '\n' && letter != '\t')
      return refuse(400, "malformed request: a control character");
  if (kept_.size() > kMostHeaderBytes) refuse(431, "request header of more than 8192 bytes");
}

void RequestReader::finish() {
  const auto& message = parser_->beast.get();
  if (parser_->beast.chunked() || parser_->beast.content_length().value_or(0) > 0)
    return refuse(413, "request with a body, expected none");
  if (message.find(http::field::transfer_encoding) != message.end())
    return refuse(400, "malformed request: Transfer-Encoding without a body");
  if (message.count(http::field::host) != 1) return refuse(400, "malformed request: expected one Host field");
  const auto target = message.target();
  if (!parse_target({target.data(), target.size()}, request_))
    return refuse(400, "malformed request: the target is not a path");
  const auto method = message.method_string();
  request_.method.assign(method.data(), method.size());
  request_.host = text_of(message, http::field::host);
  request_.origin = text_of(message, http::field::origin);
  request_.cookie = text_of(message, http::field::cookie);
  request_.authorization = text_of(message, http::field::authorization);
  request_.if_none_match = text_of(message, http::field::if_none_match);
  request_.fetch_site = text_of(message, "Sec-Fetch-Site");
  request_.fetch_mode = text_of(message, "Sec-Fetch-Mode");
  request_.keep_alive = message.keep_alive();
  state_ = State::done;
}

Request RequestReader::take() {
  Request request = std::move(request_);
  request_ = {};
  parsed_ = 0;
  parser_ = std::make_unique<Parser>();
  state_ = State::waiting;
  go_on();
  return request;
}

void RequestReader::refuse(int status, std::string message) {
  state_ = State::refused;
  status_ = status;
  message_ = std::move(message);
}

}  // namespace mneme::serve
