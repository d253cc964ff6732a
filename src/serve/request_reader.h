// From bytes of a connection to requests: the edge at which everything is hostile.
//
// The grammar is Boost.Beast's; what it lets pass and we do not is refused here: a body, more than one Host or none,
// a target that is not "/path?query".
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "serve/request.h"

namespace mneme::serve {

// Of the request line and the header fields together.
inline constexpr std::size_t kMostHeaderBytes = 8192;

class RequestReader {
 public:
  RequestReader();
  ~RequestReader();
  RequestReader(const RequestReader&) = delete;
  RequestReader& operator=(const RequestReader&) = delete;

  enum class State { waiting, begun, done, refused };

  // Takes bytes that came, up to the end of a request; what comes after it is kept for the next one.
  State feed(std::string_view bytes);
  State state() const { return state_; }

  // In state done: the request. The reader goes on with the bytes that were kept.
  Request take();

  // In state refused: what to answer before closing.
  int status() const { return status_; }
  const std::string& message() const { return message_; }

 private:
  struct Parser;
  void go_on();
  void refuse(int status, std::string message);
  void finish();

  std::unique_ptr<Parser> parser_;
  std::string kept_;        // came, and belongs to no request yet
  std::size_t parsed_ = 0;  // bytes of whole lines that the parser has seen
  Request request_;
  State state_ = State::waiting;
  int status_ = 400;
  std::string message_;
};

}  // namespace mneme::serve
