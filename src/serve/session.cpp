#include "serve/session.h"

#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>
#include <utility>

#include "serve/limits.h"

namespace mneme::serve {

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

void Shared::count_listeners() {
  listeners.remove_if([](const std::weak_ptr<Session>& one) {
    const auto session = one.lock();
    return !session || !session->socket_.is_open();
  });
  lab.set_watchers(static_cast<int>(listeners.size()));
}

void Session::start() {
  error_code ignored;
  socket_.set_option(tcp::no_delay(true), ignored);
  wait_for_request();
}

void Session::close() {
  error_code ignored;
  timer_.cancel();
  socket_.close(ignored);
}

void Session::send_event(const std::shared_ptr<const std::string>& text) {
  // A client that does not read is cut off, and asks again when it comes back.
  if (events_.size() >= kMostEventsBehind) return close();
  events_.push_back(text);
  if (events_.size() == 1) write_event();
}

void Session::set_deadline(Clock::duration patience) {
  timer_.expires_after(patience);
  timer_.async_wait([self = shared_from_this()](error_code code) {
    if (!code) self->on_deadline();
  });
}

void Session::on_deadline() {
  // Half a request deserves an answer; an idle connection does not.
  if (waiting_since_ && reader_.state() == RequestReader::State::begun) {
    timed_out_ = true;
    error_code ignored;
    socket_.cancel(ignored);
  } else {
    close();
  }
}

void Session::wait_for_request() {
  waiting_since_ = Clock::now();
  const bool begun = reader_.state() == RequestReader::State::begun;
  set_deadline(begun ? kRequestPatience : kIdlePatience);
  if (reader_.state() == RequestReader::State::done || reader_.state() == RequestReader::State::refused)
    return process();
  read();
}

void Session::read() {
  socket_.async_read_some(asio::buffer(buffer_), [self = shared_from_this()](error_code code, std::size_t size) {
    self->on_read(code, size);
  });
}

void Session::on_read(error_code code, std::size_t size) {
  if (timed_out_) return send(error_answer(408, "the request was not complete in time"), false, false);
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

void Session::process() {
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

void Session::ask(const Request& request) {
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

void Session::send(const Answer& answer, bool keep_alive, bool head) {
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

void Session::drain() {
  set_deadline(kDrainPatience);
  drain_more();
}

void Session::drain_more() {
  if (++drained_ > kMostDrained) return close();
  socket_.async_read_some(asio::buffer(buffer_), [self = shared_from_this()](error_code code, std::size_t) {
    if (code) return self->close();
    self->drain_more();
  });
}

void Session::start_events(const Request& request) {
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

void Session::watch_for_end() {
  socket_.async_read_some(asio::buffer(buffer_), [self = shared_from_this()](error_code code, std::size_t) {
    if (code || ++self->drained_ > kMostDrained) {
      self->close();
      return self->shared_->count_listeners();
    }
    self->watch_for_end();
  });
}

void Session::write_event() {
  set_deadline(kWritePatience);
  asio::async_write(socket_, asio::buffer(*events_.front()), [self = shared_from_this()](error_code code, std::size_t) {
    self->timer_.cancel();
    if (code) {
      self->close();
      return self->shared_->count_listeners();
    }
    self->events_.pop_front();
    if (!self->events_.empty()) self->write_event();
  });
}

}  // namespace mneme::serve
