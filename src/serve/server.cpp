#include "serve/server.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>

#include "core/error.h"
#include "serve/limits.h"
#include "serve/session.h"

namespace mneme::serve {
namespace {

// More descriptors than the usual 1024, if the system lets us.
void raise_descriptor_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = std::min<rlim_t>(limit.rlim_max, std::max<rlim_t>(limit.rlim_cur, 4096));
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace

struct Server::Parts {
  Parts(const store::Lab& lab_directory, const ServerOptions& options_)
      : options(options_),
        acceptor(io),
        accept_timer(io),
        heartbeat(io),
        signals(io),
        lab(lab_directory, options.results, [this](std::string data) {
          asio::post(io, [this, data = std::move(data)] { broadcast(event_text(lab.generation(), data)); });
        }) {}

  void listen();
  void accept();
  void on_accept(tcp::socket socket);
  void broadcast(std::string text);
  void beat();
  void close_all();

  ServerOptions options;
  asio::io_context io{1};
  tcp::acceptor acceptor;
  asio::steady_timer accept_timer, heartbeat;
  asio::signal_set signals;
  LabThread lab;
  std::shared_ptr<Shared> shared;
};

void Server::Parts::listen() {
  error_code code;
  const auto address = asio::ip::make_address(options.address, code);
  if (code)
    throw Error(ErrorKind::usage, "--host",
                fmt::format("got '{}', expected an address in digits, like 0.0.0.0", options.address));
  const tcp::endpoint endpoint(address, options.port);
  acceptor.open(endpoint.protocol(), code);
  if (!code) acceptor.set_option(tcp::acceptor::reuse_address(true), code);
  if (!code) acceptor.bind(endpoint, code);
  if (!code) acceptor.listen(asio::socket_base::max_listen_connections, code);
  if (code == asio::error::address_in_use)
    throw Error(ErrorKind::io, "serve",
                fmt::format("port {} is taken, expected a free one: --port N, or --port 0 for any", options.port));
  if (code)
    throw Error(ErrorKind::io, "serve",
                fmt::format("cannot listen on {} port {}: {}", options.address, options.port, code.message()));
  raise_descriptor_limit();
  shared = std::make_shared<Shared>(Guard(options.address, acceptor.local_endpoint().port(), options.token), lab);
}

void Server::Parts::accept() {
  acceptor.async_accept([this](error_code code, tcp::socket socket) {
    if (code == asio::error::operation_aborted) return;
    if (!code) {
      on_accept(std::move(socket));
      return accept();
    }
    // Out of descriptors: those that are open will be closed by their deadlines.
    accept_timer.expires_after(std::chrono::milliseconds(50));
    accept_timer.async_wait([this](error_code stopped) {
      if (!stopped) accept();
    });
  });
}

void Server::Parts::on_accept(tcp::socket socket) {
  shared->sessions.remove_if([](const std::weak_ptr<Session>& one) { return one.expired(); });
  const auto session = std::make_shared<Session>(std::move(socket), shared);
  if (shared->sessions.size() >= kMostConnections) {
    // The one that has been longest without a whole request makes room.
    std::shared_ptr<Session> oldest;
    for (const auto& one : shared->sessions)
      if (const auto other = one.lock(); other && other->waiting_since())
        if (!oldest || *other->waiting_since() < *oldest->waiting_since()) oldest = other;
    if (!oldest) return session->turn_away();
    oldest->close();
  }
  shared->sessions.push_back(session);
  session->start();
}

void Server::Parts::broadcast(std::string text) {
  const auto shared_text = std::make_shared<const std::string>(std::move(text));
  const auto listeners = shared->listeners;  // a listener that is cut off changes the list
  for (const auto& one : listeners)
    if (const auto session = one.lock()) session->send_event(shared_text);
}

void Server::Parts::beat() {
  heartbeat.expires_after(kHeartbeat);
  heartbeat.async_wait([this](error_code code) {
    if (code) return;
    broadcast(":\n\n");
    shared->count_listeners();
    beat();
  });
}

void Server::Parts::close_all() {
  error_code ignored;
  acceptor.close(ignored);
  heartbeat.cancel();
  accept_timer.cancel();
  signals.cancel(ignored);
  for (const auto& one : shared->sessions)
    if (const auto session = one.lock()) session->close();
  io.stop();
}

Server::Server(const store::Lab& lab, const ServerOptions& options) : parts_(std::make_unique<Parts>(lab, options)) {
  parts_->listen();
}

Server::~Server() = default;

unsigned short Server::port() const { return parts_->acceptor.local_endpoint().port(); }

std::string Server::url() const {
  const std::string& address = parts_->options.address;
  const std::string host = address.find(':') == address.npos ? address : "[" + address + "]";
  const std::string& token = parts_->options.token;
  return fmt::format("http://{}:{}/{}", host, port(), token.empty() ? "" : "?token=" + token);
}

void Server::run() {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) parts_->signals.add(signal);
  parts_->signals.async_wait([this](error_code code, int) {
    if (!code) parts_->close_all();
  });
  parts_->accept();
  parts_->beat();
  parts_->io.run();
}

void Server::stop() {
  asio::post(parts_->io, [this] { parts_->close_all(); });
}

}  // namespace mneme::serve
