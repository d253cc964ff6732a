#include "cli/terminal/progress.h"

#include <fmt/format.h>

#include <cmath>
#include <map>

#include "cli/command.h"
#include "core/text.h"
#include "run/work_estimate.h"

namespace mneme::cli {
namespace {

using Clock = std::chrono::steady_clock;
constexpr double kPlainPeriod = 5.0;

std::string rate_text(double tokens_per_second) {
  if (!std::isfinite(tokens_per_second)) return "";
  return tokens_per_second >= 1e6 ? fmt::format("{:.2f} Mtok/s", tokens_per_second / 1e6)
                                  : fmt::format("{:.1f} ktok/s", tokens_per_second / 1e3);
}

std::string loss_text(double loss) { return std::isfinite(loss) ? fmt::format("{:.3f}", loss) : "not finite"; }

struct Running {
  const config::RunConfig* run = nullptr;
  std::int64_t first_step = 0;
  Clock::time_point start = Clock::now();
  run::RunProgress progress;

  std::string left() const {
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    const auto trained = static_cast<double>(progress.step - first_step);
    if (trained <= 0) return "";
    return duration(seconds / trained * static_cast<double>(progress.steps - progress.step)) + " left";
  }
};

// What both kinds of display have in common.
class Progress : public run::ExecutionObserver {
 public:
  Progress(std::span<const config::RunConfig> runs, report::RunLabels labels, std::FILE* stream,
           const Terminal& terminal)
      : labels_(std::move(labels)), stream_(stream), terminal_(terminal), total_(runs.size()), estimate_(runs) {}

  void on_start(int slot, const config::RunConfig& run, std::int64_t step) override {
    running_[slot] = {.run = &run,
                      .first_step = step,
                      .start = Clock::now(),
                      .progress = {.step = step, .steps = run.train.integer("steps")}};
    estimate_.at_step(run, step, false);
  }
  void on_progress(int slot, const config::RunConfig& run, const run::RunProgress& progress) override {
    running_[slot].progress = progress;
    estimate_.at_step(run, progress.step, true);
  }
  void on_metric(int, const config::RunConfig&, const Json&) override {}
  void on_end(int slot, const config::RunConfig& run, const run::RunResult& result) override {
    running_.erase(slot);
    // One that was stopped has not ended: it goes on when it is wanted again.
    if (result.state != store::RunState::interrupted) {
      estimate_.ended(run);
      ++ended_;
    }
    if (slot >= 0)
      line(end_line(run, result));
    else
      ++earlier_;
  }
  void on_note(std::string_view note) override { line(fmt::format("note: {}", harmless(note))); }
  void on_stopping() override {
    line("stopping: workers are writing their checkpoints (Ctrl-C again to stop at once)");
  }
  void on_tick() override {}

 protected:
  virtual void line(const std::string& text) = 0;

  std::string end_line(const config::RunConfig& run, const run::RunResult& result) const {
    const bool good = result.state == store::RunState::done;
    const bool bad = result.state == store::RunState::failed;
    const std::string mark = paint(good  ? "✓"
                                   : bad ? "✗"
                                         : "•",
                                   good  ? Color::green
                                   : bad ? Color::red
                                         : Color::yellow,
                                   terminal_);
    return fmt::format("{} {} {}: {}", mark, paint(run.id, Color::dim, terminal_), labels_.of(run),
                       harmless(report::describe_result(result)));
  }

  std::string total_line() const {
    std::string text = fmt::format("{} of {} runs finished", ended_, total_);
    if (earlier_ > 0) text += fmt::format(" ({} earlier)", earlier_);
    text += fmt::format(", {} running, {} elapsed", running_.size(), duration(estimate_.elapsed()));
    if (const auto left = estimate_.left(); left && ended_ < total_)
      text += fmt::format(", at most {} left", duration(*left));
    return text;
  }

  report::RunLabels labels_;
  std::FILE* stream_;
  Terminal terminal_;
  std::size_t total_, ended_ = 0, earlier_ = 0;
  std::map<int, Running> running_;
  run::WorkEstimate estimate_;
};

class PlainProgress : public Progress {
 public:
  using Progress::Progress;

  void on_start(int slot, const config::RunConfig& run, std::int64_t step) override {
    Progress::on_start(slot, run, step);
    line(step == 0 ? fmt::format("{} {}: started", run.id, labels_.of(run))
                   : fmt::format("{} {}: resumes at step {}", run.id, labels_.of(run), grouped(step)));
  }
  void on_metric(int slot, const config::RunConfig& run, const Json& metric) override {
    const auto now = Clock::now();
    auto [last, first] = last_line_.try_emplace(run.id, now);
    if (!first && std::chrono::duration<double>(now - last->second).count() < kPlainPeriod) return;
    last->second = now;
    const run::RunProgress& progress = running_[slot].progress;
    line(fmt::format("{} {}: step {}/{}, loss {}, validation {}, {}, {}", run.id, labels_.of(run),
                     metric.value("step", 0), progress.steps, loss_text(progress.loss),
                     report::percent(metric["values"].value("accuracy", Json()).is_number()
                                         ? std::optional(metric["values"]["accuracy"].get<double>())
                                         : std::nullopt),
                     rate_text(progress.tokens_per_second), running_[slot].left()));
  }
  void on_end(int slot, const config::RunConfig& run, const run::RunResult& result) override {
    Progress::on_end(slot, run, result);
    // A command that was stopped tells its counts at the end, with what others have finished meanwhile.
    if (slot >= 0 && total_ > 1 && result.state != store::RunState::interrupted) line(total_line());
  }

 private:
  void line(const std::string& text) override {
    fmt::print(stream_, "{}\n", text);
    std::fflush(stream_);
  }
  std::map<std::string, Clock::time_point> last_line_;
};

class LiveProgress : public Progress {
 public:
  using Progress::Progress;
  ~LiveProgress() override { erase(); }

  void on_tick() override {
    std::string block;
    int lines = 0;
    for (const auto& [slot, running] : running_) {
      block += clipped(running_line(running), width()) + "\n";
      ++lines;
    }
    if (total_ > 1 && lines > 0) {
      block += clipped(total_line(), width()) + "\n";
      ++lines;
    }
    if (block == shown_) return;
    put(erasure() + block);
    shown_ = block;
    shown_lines_ = lines;
  }

 private:
  // A window may be resized while we write.
  std::size_t width() const {
    const Terminal now = terminal_of(stream_);
    return static_cast<std::size_t>(std::max(20, now.is_terminal ? now.columns : terminal_.columns) - 1);
  }

  // The most that fits: step and loss are the last to go.
  std::string running_line(const Running& running) const {
    const run::RunProgress& progress = running.progress;
    const double share =
        progress.steps > 0 ? static_cast<double>(progress.step) / static_cast<double>(progress.steps) : 0;
    const std::string steps = fmt::format("{}/{}", progress.step, progress.steps);
    std::string scores, speed;
    if (progress.step > running.first_step) {
      scores = fmt::format("  loss {}  acc {}", loss_text(progress.loss), report::percent(progress.accuracy));
      speed = fmt::format("  {}  {}", rate_text(progress.tokens_per_second), running.left());
    }
    const std::string &id = running.run->id, label = labels_.of(*running.run);
    for (const std::string& text :
         {fmt::format("{} {} |{}| {}{}{}", id, label, bar(share, 16), steps, scores, speed),
          fmt::format("{} {} |{}| {}{}", id, label, bar(share, 16), steps, scores),
          fmt::format("{} {} {}{}", id, label, steps, scores), fmt::format("{} {}{}", label, steps, scores),
          fmt::format("{} {}{}", id.substr(0, 4), steps, scores)})
      if (display_width(text) <= width()) return text;
    return steps + scores;
  }

  // To the first column of the first line shown, and everything below it gone.
  std::string erasure() const { return shown_lines_ > 0 ? fmt::format("\r\x1b[{}A\x1b[J", shown_lines_) : ""; }

  void erase() {
    put(erasure());
    shown_.clear();
    shown_lines_ = 0;
  }

  void line(const std::string& text) override {
    erase();
    put((display_width(text) > width() ? wrapped(text, width(), 4) : text) + "\n");
  }

  // One write per picture: it does not flicker, and a kill leaves whole lines.
  void put(const std::string& text) const {
    std::fwrite(text.data(), 1, text.size(), stream_);
    std::fflush(stream_);
  }

  std::string shown_;
  int shown_lines_ = 0;
};

class QuietProgress : public run::ExecutionObserver {
 public:
  void on_start(int, const config::RunConfig&, std::int64_t) override {}
  void on_progress(int, const config::RunConfig&, const run::RunProgress&) override {}
  void on_metric(int, const config::RunConfig&, const Json&) override {}
  void on_end(int, const config::RunConfig&, const run::RunResult&) override {}
  void on_note(std::string_view note) override { print_note(note); }
  void on_stopping() override {}
  void on_tick() override {}
};

}  // namespace

std::unique_ptr<run::ExecutionObserver> make_progress(std::span<const config::RunConfig> runs, report::RunLabels labels,
                                                      std::FILE* stream, const Terminal& terminal) {
  if (terminal.is_terminal) return std::make_unique<LiveProgress>(runs, std::move(labels), stream, terminal);
  return std::make_unique<PlainProgress>(runs, std::move(labels), stream, terminal);
}

std::unique_ptr<run::ExecutionObserver> make_progress(std::span<const config::RunConfig> runs,
                                                      report::RunLabels labels) {
  return make_progress(runs, std::move(labels), stderr, terminal_of(stderr));
}

std::unique_ptr<run::ExecutionObserver> make_quiet_progress() { return std::make_unique<QuietProgress>(); }

}  // namespace mneme::cli
