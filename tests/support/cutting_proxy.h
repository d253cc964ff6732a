// Stands between a client and a PostgreSQL server's socket, and can lose an answer: what was asked is carried out, but
// the client never hears of it.
#pragma once

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstring>
#include <stdexcept>
#include <string>
#include <thread>

namespace mneme::testing {

class CuttingProxy {
 public:
  CuttingProxy(const std::string& listen_directory, const std::string& server_directory)
      : server_(server_directory), listener_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const sockaddr_un address = socket_in(listen_directory);
    if (::bind(listener_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
        ::listen(listener_, 8) != 0)
      throw std::runtime_error(std::string("proxy: ") + std::strerror(errno));
    thread_ = std::thread([this] { serve(); });
  }
  ~CuttingProxy() {
    stopped_ = true;
    thread_.join();
    ::close(listener_);
  }
  CuttingProxy(const CuttingProxy&) = delete;
  CuttingProxy& operator=(const CuttingProxy&) = delete;

  // The next thing the server says is swallowed, and the connection ends.
  void cut_next_answer() { armed_ = true; }
  int cuts() const { return cuts_; }

 private:
  static sockaddr_un socket_in(const std::string& directory) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::string path = directory + "/.s.PGSQL.5432";
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    return address;
  }

  static bool readable(int descriptor, int timeout) {
    pollfd poll_for{descriptor, POLLIN, 0};
    return ::poll(&poll_for, 1, timeout) > 0;
  }

  // One connection after another: a test has one client.
  void serve() {
    while (!stopped_) {
      if (!readable(listener_, 20)) continue;
      const int client = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      const int server = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
      const sockaddr_un address = socket_in(server_);
      if (::connect(server, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0)
        while (!stopped_ && pass_on(client, server)) {
        }
      ::close(client);
      ::close(server);
    }
  }

  bool pass_on(int client, int server) {
    std::array<pollfd, 2> polls{pollfd{client, POLLIN, 0}, pollfd{server, POLLIN, 0}};
    ::poll(polls.data(), polls.size(), 20);
    std::array<char, 8192> bytes;
    if (polls[0].revents != 0) {
      const ssize_t count = ::read(client, bytes.data(), bytes.size());
      if (count <= 0 || ::write(server, bytes.data(), static_cast<std::size_t>(count)) != count) return false;
    }
    if (polls[1].revents != 0) {
      const ssize_t count = ::read(server, bytes.data(), bytes.size());
      if (armed_.exchange(false)) {
        ++cuts_;
        return false;
      }
      if (count <= 0 || ::write(client, bytes.data(), static_cast<std::size_t>(count)) != count) return false;
    }
    return true;
  }

  std::string server_;
  int listener_;
  std::atomic<bool> armed_ = false, stopped_ = false;
  std::atomic<int> cuts_ = 0;
  std::thread thread_;
};

}  // namespace mneme::testing
