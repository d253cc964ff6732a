// The thread that owns the picture of the lab: it follows the disk while someone watches, and makes answers in turn.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

#include "serve/api.h"

namespace mneme::serve {

class LabThread {
 public:
  // `on_change` gets the text of an event, in the lab's thread.
  LabThread(const store::Lab& lab, Path results, std::function<void(std::string)> on_change);
  ~LabThread();
  LabThread(const LabThread&) = delete;
  LabThread& operator=(const LabThread&) = delete;

  using Callback = std::function<void(const Answer&)>;
  // Calls back in the lab's thread; false if too many wait already.
  bool ask(Request request, Callback callback);

  // How many follow the events. With none, nothing is done between requests.
  void set_watchers(int count);

  std::uint64_t generation() const { return generation_; }
  // The data of an event in which nothing has changed, for those who come later.
  std::string hello() const;

 private:
  struct Question {
    Request request;
    Callback callback;
  };
  void work();
  void follow();
  // A portion of what the server has not read yet since its start.
  void read_on();
  void tell(const Changes& changes);

  LabView view_;
  Api api_;
  std::function<void(std::string)> on_change_;
  std::atomic<std::uint64_t> generation_;
  std::atomic<std::size_t> unread_, to_read_;
  std::chrono::steady_clock::time_point last_look_{};
  // While the lab is being read: what was not told yet, when the next is due, and how long to wait after that.
  Changes read_;
  std::chrono::steady_clock::time_point next_progress_{}, next_tell_{};
  std::chrono::steady_clock::duration tell_pause_{};

  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Question> questions_;
  std::string trouble_;  // as it was last told
  int watchers_ = 0;
  bool stopping_ = false;
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace mneme::serve
