#include "serve/server.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <deque>
#include <list>
#include <map>

#include "core/error.h"
#include "serve/guard.h"
#include "serve/lab_thread.h"
#include "serve/limits.h"
#include "serve/request_reader.h"
#include "serve/site.h"

namespace mneme::serve {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;
using Clock = std::chrono::steady_clock;

class Session;

// What all connections share; used in the thread of input and output only.
struct Shared {
  Shared(Guard guard_, LabThread& lab_) : guard(std::move(guard_)), lab(lab_) {}

  Guard guard;
  LabThread& lab;
  std::list<std::weak_ptr<Session>> sessions;
  std::list<std::weak_ptr<Session>> listeners;  // to events

  // Answers that are as new as the lab, by target; and who waits for one that is being made.
  struct Kept {
    Answer answer;
    std::uint64_t generation;
    Clock::time_point made;
  };
  std::map<std::string, Kept> kept;
  std::map<std::string, std::vector<std::function<void(const Answer&)>>> waiting;

  const Answer* find_kept(const std::string& target);
  void keep(const std::string& target, const Answer& answer, std::uint64_t generation);
  void count_listeners();
};

const Answer* Shared::find_kept(const std::string& target) {
  const auto found = kept.find(target);
  if (found == kept.end()) return nullptr;
  const bool is_new = found->second.generation == lab.generation() && Clock::now() - found->second.made < kKeepAnswer;
  return is_new ? &found->second.answer : nullptr;
}

void Shared::keep(const std::string& target, const Answer& answer, std::uint64_t generation) {
  if (answer.status != 200) return;
  if (kept.size() >= kMostKeptAnswers) kept.clear();
  kept[target] = {answer, generation, Clock::now()};
}

// One connection: requests one after the other, or events until it ends.
class Session : public std::enable_shared_from_this<Session> {
 public:
  Session(tcp::socket socket, std::shared_ptr<Shared> shared)
      : socket_(std::move(socket)), timer_(socket_.get_executor()), shared_(std::move(shared)) {}

  void start() {
    error_code ignored;
    socket_.set_option(tcp::no_delay(true), ignored);
    wait_for_request();
  }

  // Since when it has been waiting for a request to be whole; nothing while one is answered or events flow.
  std::optional<Clock::time_point> waiting_since() const { return waiting_since_; }

  void close() {
    error_code ignored;
    timer_.cancel();
    socket_.close(ignored);
  }

  // Answers without having read anything, and closes.
  void turn_away() { send(error_answer(503, "too many connections", "fewer at a time"), false, false); }

  void send_event(const std::shared_ptr<const std::string>& text) {
    // Whoever does not read is cut off, and asks anew when it comes back.
    if (events_.size() >= kMostEventsBehind) return close();
    events_.push_back(text);
    if (events_.size() == 1) write_event();
  }

 private:
  void set_deadline(Clock::duration patience) {
    timer_.expires_after(patience);
    timer_.async_wait([self = shared_from_this()](error_code code) {
      if (!code) self->on_deadline();
    });
  }

  void on_deadline() {
    // Half a request deserves an answer; an idle connection does not.
    if (waiting_since_ && reader_.state() == RequestReader::State::begun) {
      timed_out_ = true;
      error_code ignored;
      socket_.cancel(ignored);
    } else {
      close();
    }
  }

  void wait_for_request() {
    waiting_since_ = Clock::now();
    const bool begun = reader_.state() == RequestReader::State::begun;
    set_deadline(begun ? kRequestPatience : kIdlePatience);
    if (reader_.state() == RequestReader::State::done || reader_.state() == RequestReader::State::refused)
      return process();
    read();
  }

  void read() {
    socket_.async_read_some(asio::buffer(buffer_), [self = shared_from_this()](error_code code, std::size_t size) {
      self->on_read(code, size);
    });
  }

  void on_read(error_code code, std::size_t size) {
    if (timed_out_) return send(error_answer(408, "the request did not become whole in time"), false, false);
    if (code) return close();
    const bool first = reader_.state() == RequestReader::State::waiting;
    reader_.feed({buffer_.data(), size});
    switch (reader_.state()) {
      case RequestReader::State::done:
      case RequestReader::State::refused: return process();
      case RequestReader::State::waiting:
      case RequestReader::State::begun:
        // Counted from the first byte, however slowly the others come.
        if (first) set_deadline(kRequestPatience);
        read();
    }
  }

  void process() {
    waiting_since_.reset();
    timer_.cancel();
    if (reader_.state() == RequestReader::State::refused)
      return send(error_answer(reader_.status(), reader_.message()), false, false);
    const Request request = reader_.take();
    const bool head = request.method == "HEAD";
    if (const auto refused = shared_->guard.refusal(request)) return send(*refused, request.keep_alive, head);
    switch (const Route route = route_of(request); route) {
      case Route::page: return send(page_answer(request), request.keep_alive, head);
      case Route::events: return start_events(request);
      case Route::api: return ask(request);
    }
  }

  void ask(const Request& request) {
    const bool head = request.method == "HEAD", keep_alive = request.keep_alive;
    const auto reply = [self = shared_from_this(), keep_alive, head, known = request.if_none_match](
                           const Answer& answer) { self->send(with_tag(answer, known), keep_alive, head); };
    if (const Answer* kept = shared_->find_kept(request.target)) return reply(*kept);
    std::vector<std::function<void(const Answer&)>>& waiting = shared_->waiting[request.target];
    waiting.push_back(reply);
    if (waiting.size() > 1) return;  // it is being made already
    const auto executor = socket_.get_executor();
    const bool taken =
        shared_->lab.ask(request, [shared = shared_, executor, target = request.target](const Answer& answer) {
          const std::uint64_t generation = shared->lab.generation();
          asio::post(executor, [shared, target, answer, generation] {
            shared->keep(target, answer, generation);
            for (const auto& one : std::exchange(shared->waiting[target], {})) one(answer);
            shared->waiting.erase(target);
          });
        });
    if (taken) return;
    shared_->waiting.erase(request.target);
    reply(error_answer(503, "too many requests wait for an answer", "to ask again in a second"));
  }

  void send(const Answer& answer, bool keep_alive, bool head) {
    set_deadline(kWritePatience);
    out_head_ = head_of(answer, keep_alive);
    out_body_ = head || answer.status == 304 ? nullptr : answer.body;
    std::vector<asio::const_buffer> buffers = {asio::buffer(out_head_)};
    if (out_body_) buffers.push_back(asio::buffer(*out_body_));
    asio::async_write(socket_, buffers, [self = shared_from_this(), keep_alive](error_code code, std::size_t) {
      if (code) return self->close();
      if (keep_alive) return self->wait_for_request();
      error_code ignored;
      self->socket_.shutdown(tcp::socket::shutdown_send, ignored);
      self->drain();
    });
  }

  // Closing while bytes are unread would make the kernel take back what was just sent.
  void drain() {
    set_deadline(kDrainPatience);
    socket_.async_read_some(asio::buffer(buffer_), [self = shared_from_this()](error_code code, std::size_t) {
      if (code) return self->close();
      self->drain_more();
    });
  }
  void drain_more() {
    if (++drained_ > kMostDrained) return close();
    socket_.async_read_some(asio::buffer(buffer_), [self = shared_from_this()](error_code code, std::size_t) {
      if (code) return self->close();
      self->drain_more();
    });
  }

  void start_events(const Request& request) {
    shared_->count_listeners();
    if (request.method == "HEAD" || shared_->listeners.size() >= kMostListeners)
      return send(error_answer(503, "too many connections follow the events", "fewer at a time"), false, true);
    shared_->listeners.push_back(weak_from_this());
    shared_->count_listeners();
    Answer answer;
    answer.type = "text/event-stream";
    std::string text = head_of(answer, true, Length::open) + "retry: 1000\n\n";
    text += event_text(shared_->lab.generation(), shared_->lab.hello());
    send_event(std::make_shared<const std::string>(std::move(text)));
    watch_for_end();
  }

  // The other side sends nothing any more; reading tells when it is gone.
  void watch_for_end() {
    socket_.async_read_some(asio::buffer(buffer_), [self = shared_from_this()](error_code code, std::size_t) {
      if (code || ++self->drained_ > kMostDrained) {
        self->close();
        return self->shared_->count_listeners();
      }
      self->watch_for_end();
    });
  }

  void write_event() {
    set_deadline(kWritePatience);
    asio::async_write(socket_, asio::buffer(*events_.front()),
                      [self = shared_from_this()](error_code code, std::size_t) {
                        self->timer_.cancel();
                        if (code) {
                          self->close();
                          return self->shared_->count_listeners();
                        }
                        self->events_.pop_front();
                        if (!self->events_.empty()) self->write_event();
                      });
  }

  friend struct Shared;
  tcp::socket socket_;
  asio::steady_timer timer_;
  std::shared_ptr<Shared> shared_;
  RequestReader reader_;
  std::array<char, 4096> buffer_{};
  std::optional<Clock::time_point> waiting_since_;
  bool timed_out_ = false;
  int drained_ = 0;
  std::string out_head_;
  std::shared_ptr<const std::string> out_body_;
  std::deque<std::shared_ptr<const std::string>> events_;
};

void Shared::count_listeners() {
  listeners.remove_if([](const std::weak_ptr<Session>& one) {
    const auto session = one.lock();
    return !session || !session->socket_.is_open();
  });
  lab.set_watchers(static_cast<int>(listeners.size()));
}

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
