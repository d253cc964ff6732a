#include "cluster/node_observer.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <cstdio>
#include <ctime>

#include "store/lease_holder.h"

namespace mneme::cluster {
namespace {

constexpr auto kStorePeriod = std::chrono::seconds(5);

std::string now_text() { return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr))); }

}  // namespace

TaskHistory earlier_history(const Submission& submission, int task) {
  try {
    const Path file = submission.task_file(task);
    if (std::filesystem::exists(file))
      return TaskHistory::from(parse_json(read_file(file), file.string()).value("history", Json::object()));
  } catch (const std::exception&) {
    // A file that says nothing counts as a first start.
  }
  return {};
}

NodeObserver::NodeObserver(const Submission& submission, int task, std::string node, TaskHistory history)
    : submission_(submission), task_(task), node_(std::move(node)), history_(history) {}

void NodeObserver::say(std::string_view line) const {
  fmt::print("{} {}\n", now_text(), line);
  std::fflush(stdout);
}

void NodeObserver::on_start(int slot, const config::RunConfig& run, std::int64_t step) {
  working_[slot] = {.run = run.id,
                    .mixer = run.model.text("mixer"),
                    .lr = run.train.real("lr"),
                    .seed = run.train.integer("seed"),
                    .first = step,
                    .progress = {.step = step, .steps = run.train.integer("steps")},
                    .flops_per_step = run.training_flops() / static_cast<double>(run.train.integer("steps"))};
  say(fmt::format("run {} starts at step {}", run.id, step));
}

void NodeObserver::on_progress(int slot, const config::RunConfig& run, const run::RunProgress& progress) {
  Working& working = working_[slot];
  working.progress = progress;
  const auto tokens = static_cast<double>(run.train.integer("batch") * run.shape.length);
  working.steps_per_second = progress.tokens_per_second / tokens;
}

void NodeObserver::on_end(int slot, const config::RunConfig& run, const run::RunResult& result) {
  if (slot < 0) return;
  if (const auto working = working_.find(slot); working != working_.end()) {
    progressed_ = progressed_ || working->second.progress.step > working->second.first;
    working_.erase(working);
  }
  const std::string state(store::run_state_name(result.state));
  if (result.state != store::RunState::interrupted) {
    progressed_ = true;
    ++ended_[state];
  }
  say(fmt::format("run {} is {}: {}", run.id, state, result.reason));
}

void NodeObserver::on_note(std::string_view note) { say(note); }

void NodeObserver::on_stopping() { say("stopping: workers write checkpoints"); }

void NodeObserver::on_tick() {
  if (Clock::now() - stored_ < kStorePeriod) return;
  store("running", "");
}

void NodeObserver::store(const std::string& state, const std::string& note) {
  stored_ = Clock::now();
  if (superseded_) return;
  if (earlier_history(submission_, task_).starts > history_.starts) {
    superseded_ = true;
    return say("Slurm has restarted this task elsewhere: no more runs are leased here");
  }
  Json workers = Json::array();
  for (const auto& [slot, working] : working_)
    workers.push_back({{"run", working.run},
                       {"mixer", working.mixer},
                       {"lr", working.lr},
                       {"seed", working.seed},
                       {"step", working.progress.step},
                       {"steps", working.progress.steps},
                       {"tokens_per_second", working.progress.tokens_per_second},
                       {"steps_per_second", working.steps_per_second},
                       {"flops_per_second", working.steps_per_second * working.flops_per_step}});
  const Json task = {{"task", task_},      {"node", node_},         {"state", state},
                     {"note", note},       {"changed", now_text()}, {"history", history_.json()},
                     {"workers", workers}, {"ended", ended_}};
  try {
    write_file_atomically(submission_.task_file(task_), task.dump(2) + "\n");
  } catch (const std::exception& error) {
    say(fmt::format("cannot write the state of this task: {}", error.what()));
  }
}

}  // namespace mneme::cluster
