#include "serve/lab_thread.h"

#include <fmt/format.h>

#include <algorithm>

namespace mneme::serve {
namespace {

using Clock = std::chrono::steady_clock;

// Three rounds see every run (lab_watch.h): after 1.5 s at the latest an event is on its way.
constexpr auto kPeriod = std::chrono::milliseconds(500);
constexpr std::size_t kMostQuestions = 200;
constexpr std::size_t kMostNamed = 200;

// Runs that are read before the first answer: a tenth of a second of work.
constexpr std::size_t kReadAtStart = 256;

std::uint64_t begin(LabView& view) {
  if (view.unread() <= kReadAtStart) view.read_all();
  return view.generation();
}

Json reading_json(std::size_t unread, std::size_t to_read) {
  return unread == 0 ? Json() : Json{{"read", to_read - unread}, {"of", to_read}};
}

Json trouble_json(const std::string& trouble) { return trouble.empty() ? Json() : Json(trouble); }

}  // namespace

LabThread::LabThread(const store::Lab& lab, Path results, std::function<void(std::string)> on_change)
    : view_(lab),
      api_(view_, std::move(results)),
      on_change_(std::move(on_change)),
      generation_(begin(view_)),
      unread_(view_.unread()),
      to_read_(view_.to_read()),
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
  const std::lock_guard held(mutex_);
  return Json{{"generation", generation()},
              {"runs", Json::array()},
              {"studies", Json::array()},
              {"papers", false},
              {"reading", reading_json(unread_, to_read_)},
              {"trouble", trouble_json(trouble_)}}
      .dump(-1, ' ', false, Json::error_handler_t::replace);
}

void LabThread::tell(const Changes& changes) {
  generation_ = view_.generation();
  unread_ = view_.unread();
  {
    const std::lock_guard held(mutex_);
    trouble_ = view_.trouble();
  }
  Json event = {{"generation", view_.generation()},
                {"runs", Json::array()},
                {"studies", changes.studies},
                {"papers", changes.papers},
                {"more", changes.runs.size() > kMostNamed},
                {"reading", reading_json(view_.unread(), view_.to_read())},
                {"trouble", trouble_json(view_.trouble())}};
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

void LabThread::read_on() {
  Changes changes;
  try {
    changes = view_.read_more();
  } catch (const std::exception& error) {
    changes.other = view_.tell_trouble(error.what());
  }
  read_.runs.insert(read_.runs.end(), changes.runs.begin(), changes.runs.end());
  for (std::string& key : changes.studies)
    if (std::find(read_.studies.begin(), read_.studies.end(), key) == read_.studies.end())
      read_.studies.push_back(std::move(key));
  const auto now = Clock::now();
  if (view_.unread() == 0 || now >= next_tell_) {
    // Every page asks for everything then: less and less often, so that reading comes to its end.
    tell(read_);
    read_ = {};
    tell_pause_ = std::max<Clock::duration>(2 * tell_pause_, kPeriod);
    next_tell_ = now + tell_pause_;
    next_progress_ = now + kPeriod;
  } else if (now >= next_progress_) {
    tell({});
    next_progress_ = now + kPeriod;
  }
}

void LabThread::work() {
  bool ahead = true, asked = false;  // something may be left to compute ahead; somebody has asked for anything
  bool more = view_.unread() > 0;    // to be read or gathered, between questions
  std::unique_lock held(mutex_);
  while (!stopping_) {
    const auto next = last_look_ + kPeriod;
    const auto is_wanted = [&] { return stopping_ || !questions_.empty(); };
    if (!more && (!ahead || !asked)) {
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
    }
    more = api_.gather_more();
    if (view_.unread() > 0) {
      read_on();
      more = true;
    } else if (!question && !more && ahead) {
      const std::uint64_t before = view_.generation();
      ahead = api_.work_ahead();
      if (view_.generation() != before) tell({.runs = {}, .studies = {}, .other = true, .papers = true});
    }
    held.lock();
  }
}

}  // namespace mneme::serve
