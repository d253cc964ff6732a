// Who may send requests: by the Host that a browser believes it talks to, the page that asks, and the token.
//
// A page of another site can make a browser send requests to a server on the same machine, also under a name that its
// owner points at 127.0.0.1 (DNS rebinding). Such requests have another Host or another Origin, and both are compared
// as a whole. Beyond loopback the network reaches the server too, and every request needs the token.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "serve/answer.h"
#include "serve/request.h"

namespace mneme::serve {

class Guard {
 public:
  // `address` is what the server listens on, in digits. `token` "": none is asked for.
  Guard(std::string address, unsigned short port, std::string token);

  // What to answer instead; nothing if the request may go on.
  std::optional<Answer> refusal(const Request& request) const;

 private:
  bool is_our_name(std::string_view host) const;
  bool has_token(const Request& request) const;

  std::vector<std::string> names_;  // with the port, in small letters
  bool any_number_ = false;         // every address of the machine: any host in digits
  unsigned short port_;
  std::string token_;
};

// 127.0.0.0/8 or ::1, in digits.
bool is_loopback(std::string_view address);
// 43 letters from the system's random numbers.
std::string make_token();

}  // namespace mneme::serve
