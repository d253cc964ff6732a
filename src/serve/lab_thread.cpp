#include "serve/lab_thread.h"

#include <fmt/format.h>

namespace mneme::serve {
namespace {

using Clock = std::chrono::steady_clock;

// Three rounds see every run (lab_watch.h): after 1.5 s at the latest an event is on its way.
constexpr auto kPeriod = std::chrono::milliseconds(500);
constexpr std::size_t kMostQuestions = 200;
constexpr std::size_t kMostNamed = 200;

}  // namespace

LabThread::LabThread(const store::Lab& lab, Path results, std::function<void(std::string)> on_change)
    : view_(lab),
      api_(view_, std::move(results)),
      on_change_(std::move(on_change)),
      generation_(view_.generation()),
      thread_([this] { work(); }) {}

LabThread::~LabThread() {
  {
    const std::lock_guard held(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

bool LabThread::ask(Request request, Callback callback) {
  {
    const std::lock_guard held(mutex_);
    if (questions_.size() >= kMostQuestions) return false;
    questions_.push_back({std::move(request), std::move(callback)});
  }
  wake_.notify_all();
  return true;
}

void LabThread::set_watchers(int count) {
  {
    const std::lock_guard held(mutex_);
    watchers_ = count;
  }
  wake_.notify_all();
}

std::string LabThread::hello() const {
  return Json{{"generation", generation()}, {"runs", Json::array()}, {"studies", Json::array()}, {"papers", false}}
      .dump();
}

void LabThread::tell(const Changes& changes) {
  generation_ = view_.generation();
  Json event = {{"generation", view_.generation()},
                {"runs", Json::array()},
                {"studies", changes.studies},
                {"papers", changes.papers},
                {"more", changes.runs.size() > kMostNamed}};
  for (std::size_t i = 0; i < std::min(changes.runs.size(), kMostNamed); ++i) event["runs"].push_back(changes.runs[i]);
  on_change_(event.dump(-1, ' ', false, Json::error_handler_t::replace));
}

void LabThread::follow() {
  Changes changes;
  try {
    changes = view_.poll();
  } catch (const std::exception& error) {
    // A disk that fails now may work again at the next look.
    changes.other = view_.tell_trouble(error.what());
  }
  for (const std::string& key : api_.due_studies()) {
    changes.studies.push_back(key);
    view_.next_generation();
  }
  last_look_ = Clock::now();
  if (changes.any()) tell(changes);
}

void LabThread::work() {
  bool ahead = true, asked = false;  // something may be left to compute ahead; somebody has asked for anything
  std::unique_lock held(mutex_);
  while (!stopping_) {
    const auto next = last_look_ + kPeriod;
    const auto is_wanted = [&] { return stopping_ || !questions_.empty(); };
    if (!ahead || !asked) {
      // The first watcher must be seen at once: from then on there is a next look to wait for.
      if (watchers_ == 0) wake_.wait(held, [&] { return is_wanted() || watchers_ > 0; });
      wake_.wait_until(held, next, is_wanted);
    }
    if (stopping_) break;
    std::optional<Question> question;
    if (!questions_.empty()) {
      question = std::move(questions_.front());
      questions_.pop_front();
    }
    const int watchers = watchers_;
    held.unlock();
    if (Clock::now() >= next && (question || watchers > 0)) follow();
    asked |= question.has_value();
    if (question) {
      question->callback(api_.answer(question->request));
    } else if (ahead) {
      const std::uint64_t before = view_.generation();
      ahead = api_.work_ahead();
      if (view_.generation() != before) tell({.runs = {}, .studies = {}, .other = true, .papers = true});
    }
    held.lock();
  }
}

}  // namespace mneme::serve
