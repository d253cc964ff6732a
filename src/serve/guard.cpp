#include "serve/guard.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <openssl/crypto.h>
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "core/error.h"
#include "core/text.h"

namespace mneme::serve {
namespace {

constexpr std::string_view kCookie = "mneme_token=";

std::string lower(std::string_view text) {
  std::string small(text);
  for (char& letter : small)
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
  return small;
}

// 4, 6, or 0 for what is no address.
int version_of(const std::string& address) {
  std::array<unsigned char, 16> bytes{};
  if (::inet_pton(AF_INET, address.c_str(), bytes.data()) == 1) return 4;
  return ::inet_pton(AF_INET6, address.c_str(), bytes.data()) == 1 ? 6 : 0;
}

bool same(std::string_view a, std::string_view b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace

bool is_loopback(std::string_view address) {
  const std::string text(address);
  return (version_of(text) == 4 && text.starts_with("127.")) || text == "::1";
}

std::string make_token() {
  constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  std::array<unsigned char, 43> bytes{};  // 6 bits of each: 258
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
    throw Error(ErrorKind::io, "token", fmt::format("the system gives no random numbers: {}", std::strerror(errno)));
  std::string token;
  for (const unsigned char byte : bytes) token += kLetters[byte % 64];
  return token;
}

Guard::Guard(std::string address, unsigned short port, std::string token) : port_(port), token_(std::move(token)) {
  std::vector<std::string> hosts = {"127.0.0.1", "localhost", "[::1]"};
  any_number_ = address == "0.0.0.0" || address == "::";
  if (any_number_) {
    std::array<char, 256> name{};
    if (::gethostname(name.data(), name.size() - 1) == 0 && name[0] != 0) hosts.push_back(lower(name.data()));
  } else {
    hosts.push_back(version_of(address) == 6 ? fmt::format("[{}]", address) : address);
  }
  for (const std::string& host : hosts) {
    names_.push_back(fmt::format("{}:{}", host, port));
    // Browsers leave out the port of http.
    if (port == 80) names_.push_back(host);
  }
}

bool Guard::is_our_name(std::string_view host) const {
  const std::string name = lower(host);
  if (std::find(names_.begin(), names_.end(), name) != names_.end()) return true;
  if (!any_number_) return false;
  const std::string end = fmt::format(":{}", port_);
  if (!name.ends_with(end)) return false;
  std::string number = name.substr(0, name.size() - end.size());
  if (number.starts_with('[') && number.ends_with(']')) return version_of(number.substr(1, number.size() - 2)) == 6;
  return version_of(number) == 4;
}

bool Guard::has_token(const Request& request) const {
  if (same(request.authorization, "Bearer " + token_)) return true;
  for (std::string_view rest = request.cookie; !rest.empty();) {
    const std::size_t end = std::min(rest.find(';'), rest.size());
    std::string_view one = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    while (one.starts_with(' ')) one.remove_prefix(1);
    if (one.starts_with(kCookie) && same(one.substr(kCookie.size()), token_)) return true;
  }
  return false;
}

std::optional<Answer> Guard::refusal(const Request& request) const {
  if (!is_our_name(request.host))
    return error_answer(421, "the Host of the request is not this server's", names_.front());
  if (!request.origin.empty() && lower(request.origin) != "http://" + lower(request.host))
    return error_answer(403, "the request comes from a page of another site", "http://" + names_.front());
  // A link on another site may lead to the page, but no other site may use it as a script, a picture or data.
  const bool foreign = request.fetch_site == "cross-site" || request.fetch_site == "same-site";
  if (foreign && request.fetch_mode != "navigate")
    return error_answer(403, "the request comes from a page of another site", "http://" + names_.front());
  if (token_.empty() || has_token(request)) return std::nullopt;
  if (request.path.empty() && same(request.first("token"), token_)) {
    // The token leaves the address bar and with it the browser's history.
    Answer answer = error_answer(303, "go on at /");
    answer.fields = {{"Location", "/"},
                     {"Set-Cookie", fmt::format("{}{}; HttpOnly; SameSite=Strict; Path=/", kCookie, token_)}};
    return answer;
  }
  return error_answer(403, "this server needs its token",
                      "the address that `mneme serve` printed, or the header Authorization: Bearer TOKEN");
}

}  // namespace mneme::serve
