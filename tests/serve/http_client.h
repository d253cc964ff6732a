// A client that sends any bytes and reads one answer, for tests of the server.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

#include "core/json.h"

namespace mneme::testing {

struct HttpAnswer {
  int status = 0;  // 0: the connection ended without an answer
  std::string head, body;

  // The value of a field, or "".
  std::string field(const std::string& name) const {
    const std::size_t at = head.find("\r\n" + name + ": ");
    if (at == head.npos) return "";
    const std::size_t begin = at + name.size() + 4;
    return head.substr(begin, head.find("\r\n", begin) - begin);
  }
  Json json() const { return parse_json(body, "answer"); }
};

class HttpClient {
 public:
  explicit HttpClient(unsigned short port) : descriptor_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    ::inet_pton(AF_INET, "127.0.0.1", &address.sin_addr);
    if (::connect(descriptor_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
      throw std::runtime_error("cannot connect");
  }
  ~HttpClient() { ::close(descriptor_); }
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  void send(std::string_view bytes) const {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return;  // the server has closed: its answer says why
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
  }

  // Up to and with `mark`, or what came until the end or the time was over.
  std::string read_until(std::string_view mark, double seconds = 10) {
    const auto end = Clock::now() + std::chrono::milliseconds(static_cast<std::int64_t>(seconds * 1000));
    for (;;) {
      if (const std::size_t at = kept_.find(mark); at != kept_.npos) return taken(at + mark.size());
      if (!receive(end)) return taken(kept_.size());
    }
  }

  HttpAnswer read_answer(bool has_body = true, double seconds = 10) {
    HttpAnswer answer;
    answer.head = read_until("\r\n\r\n", seconds);
    if (!answer.head.starts_with("HTTP/1.1 ")) return answer;
    answer.status = std::stoi(answer.head.substr(9, 3));
    const std::string length = answer.field("Content-Length");
    const std::size_t size = has_body && !length.empty() ? std::stoul(length) : 0;
    const auto end = Clock::now() + std::chrono::milliseconds(static_cast<std::int64_t>(seconds * 1000));
    while (kept_.size() < size && receive(end)) {
    }
    answer.body = taken(std::min(size, kept_.size()));
    return answer;
  }

 private:
  using Clock = std::chrono::steady_clock;
  bool receive(Clock::time_point end) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now());
    pollfd waiting{descriptor_, POLLIN, 0};
    if (left.count() <= 0 || ::poll(&waiting, 1, static_cast<int>(left.count())) <= 0) return false;
    char buffer[65536];
    const ssize_t size = ::recv(descriptor_, buffer, sizeof buffer, 0);
    if (size <= 0) return false;
    kept_.append(buffer, static_cast<std::size_t>(size));
    return true;
  }
  std::string taken(std::size_t size) {
    std::string text = kept_.substr(0, size);
    kept_.erase(0, size);
    return text;
  }

  int descriptor_;
  std::string kept_;
};

inline std::string get_request(const std::string& target, unsigned short port, const std::string& more = "") {
  return "GET " + target + " HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(port) + "\r\n" + more + "\r\n";
}

}  // namespace mneme::testing
