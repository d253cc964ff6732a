#include "cli/keep_runs.h"

#include <fmt/format.h>

#include "report/pages/kept_results.h"

namespace mneme::cli {
namespace {

class KeepingObserver : public run::ExecutionObserver {
 public:
  KeepingObserver(std::unique_ptr<run::ExecutionObserver> next, const store::Lab& lab, const Path& file)
      : next_(std::move(next)), lab_(lab), file_(file) {}

  void on_start(int slot, const config::RunConfig& run, std::int64_t step) override {
    next_->on_start(slot, run, step);
  }
  void on_progress(int slot, const config::RunConfig& run, const run::RunProgress& progress) override {
    next_->on_progress(slot, run, progress);
  }
  void on_metric(int slot, const config::RunConfig& run, const Json& metric) override {
    next_->on_metric(slot, run, metric);
  }
  void on_end(int slot, const config::RunConfig& run, const run::RunResult& result) override {
    next_->on_end(slot, run, result);
    // What had ended before is kept at the end of the command, all at once.
    if (slot >= 0 && (result.state == store::RunState::done || result.state == store::RunState::diverged)) keep(run);
  }
  void on_note(std::string_view note) override { next_->on_note(note); }
  void on_stopping() override { next_->on_stopping(); }
  void on_tick() override { next_->on_tick(); }

 private:
  void keep(const config::RunConfig& run) {
    try {
      const std::vector<report::ResultRow> rows{report::row_in(lab_.run(run.id), run)};
      report::keep_results(file_, rows);
    } catch (const Error& error) {
      next_->on_note(fmt::format("run {} was not kept: {}", run.id, error.what()));
    }
  }

  std::unique_ptr<run::ExecutionObserver> next_;
  store::Lab lab_;
  Path file_;
};

}  // namespace

std::unique_ptr<run::ExecutionObserver> make_keeping_observer(std::unique_ptr<run::ExecutionObserver> next,
                                                              const store::Lab& lab, const Path& file) {
  return std::make_unique<KeepingObserver>(std::move(next), lab, file);
}

}  // namespace mneme::cli
