// One connection of the dashboard's server, and what all connections share. Everything here runs in the thread of input
// and output.
#pragma once

#include <array>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "serve/guard.h"
#include "serve/lab_thread.h"
#include "serve/request_reader.h"
#include "serve/site.h"

namespace mneme::serve {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;
using Clock = std::chrono::steady_clock;

class Session;

// What all connections share.
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

// One connection: requests one after the other, or events until it ends.
class Session : public std::enable_shared_from_this<Session> {
 public:
  Session(tcp::socket socket, std::shared_ptr<Shared> shared)
      : socket_(std::move(socket)), timer_(socket_.get_executor()), shared_(std::move(shared)) {}

  void start();
  // Since when it has been waiting for a request to be whole; nothing while one is answered or events flow.
  std::optional<Clock::time_point> waiting_since() const { return waiting_since_; }

  void close();
  // Answers without having read anything, and closes.
  void turn_away() { send(error_answer(503, "too many connections", "fewer at a time"), false, false); }

  void send_event(const std::shared_ptr<const std::string>& text);

 private:
  void set_deadline(Clock::duration patience);
  void on_deadline();
  void wait_for_request();
  void read();
  void on_read(error_code code, std::size_t size);
  void process();
  void ask(const Request& request);
  void send(const Answer& answer, bool keep_alive, bool head);
  // Closing while bytes are unread would make the kernel take back what was just sent.
  void drain();
  void drain_more();
  void start_events(const Request& request);
  // The other side sends nothing any more; reading tells when it is gone.
  void watch_for_end();
  void write_event();

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

}  // namespace mneme::serve
