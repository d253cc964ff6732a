// Any bytes as requests on a connection: taken or refused, the same however they are cut, and every request that is
// taken goes through the guard.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "serve/guard.h"
#include "serve/request_reader.h"

namespace {

using mneme::serve::Request;
using mneme::serve::RequestReader;
using State = RequestReader::State;

// What becomes of the bytes: a line for each request, and how it ended.
std::string story(std::string_view bytes, std::size_t piece) {
  static const mneme::serve::Guard local("127.0.0.1", 8470, ""), remote("0.0.0.0", 8470, "token");
  RequestReader reader;
  std::string told;
  for (std::size_t at = 0; at < bytes.size() && reader.state() != State::refused; at += piece) {
    reader.feed(bytes.substr(at, piece));
    while (reader.state() == State::done) {
      const Request request = reader.take();
      if (!request.target.starts_with('/')) std::abort();
      told += request.method + " " + request.target + "\n";
      for (const auto& part : request.path) told += part + "|";
      const auto refusal = local.refusal(request);
      // Whoever passes has named the server.
      if (!refusal && request.host.find(":8470") == std::string::npos) std::abort();
      if (const auto other = remote.refusal(request); !other && request.cookie.find("token") == std::string::npos &&
                                                      request.authorization.find("token") == std::string::npos)
        std::abort();
    }
  }
  if (reader.state() == State::refused) told += std::to_string(reader.status());
  return told;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::string whole = story(bytes, size + 1);
  if (story(bytes, 1) != whole || story(bytes, 7) != whole) std::abort();
  return 0;
}
