#include "study/plan.h"

#include <algorithm>
#include <functional>
#include <queue>

#include "config/test_config.h"

namespace mneme::study {
namespace {

struct RunWork {
  double tokens = 0, flops = 0;
};

void add(WorkAmount& amount, const RunWork& work, double share) {
  ++amount.runs;
  amount.tokens += share * work.tokens;
  amount.flops += share * work.flops;
}

// Useful work of the table [test], which is done once, after training. A handful of phase tests and traces is not
// counted.
double tested_work(const config::RunConfig& run) {
  if (run.test.text("along").empty()) return 0;
  double work = 0;
  for (const std::int64_t value : run.test.integers("values"))
    work += config::at_test_value(run, value).forward_flops_per_example();
  return work * static_cast<double>(run.test.integer("examples"));
}

}  // namespace

double ForwardWork::of(const config::RunConfig& run) {
  if (task_ != &run.task.values() || model_ != &run.model.values()) {
    task_ = &run.task.values();
    model_ = &run.model.values();
    flops_ = run.forward_flops_per_example();
  }
  return flops_;
}

// Backward is twice the work of forward (RunConfig::training_flops).
double step_work(const config::RunConfig& run, ForwardWork& forward) {
  return 3.0 * forward.of(run) * static_cast<double>(run.train.integer("batch"));
}

StudyPlan make_plan(const Study& study,
                    const std::unordered_map<std::string, std::pair<store::RunState, std::int64_t>>& states) {
  StudyPlan plan;
  ForwardWork forward;
  for (std::size_t i = 0; i < study.runs.size(); ++i) {
    const config::RunConfig& run = study.runs[i];
    const auto found = states.find(run.id);
    const auto [state, steps] =
        found == states.end() ? std::pair{store::RunState::fresh, std::int64_t{0}} : found->second;
    ++plan.states[state];
    const auto budget = static_cast<double>(run.train.integer("steps"));
    const RunWork work{budget * static_cast<double>(run.train.integer("batch") * run.shape.length),
                       budget * step_work(run, forward)};
    add(plan.total, work, 1);
    if (state == store::RunState::done || state == store::RunState::diverged || state == store::RunState::cancelled)
      continue;
    const double trained = state == store::RunState::failed ? 0.0 : static_cast<double>(steps);
    const double left = std::max(0.0, 1.0 - trained / budget);
    plan.to_run.push_back(i);
    plan.share.push_back(left);
    add(plan.missing, work, left);
  }
  return plan;
}

std::string kind_of(const config::RunConfig& run) {
  return run.model.text("mixer") + " + " + run.model.text("state_mixer") + ", " + run.task_entry->name;
}

std::map<std::string, std::size_t> representatives(std::span<const config::RunConfig> runs,
                                                   std::span<const std::size_t> among) {
  std::map<std::string, std::vector<std::pair<double, std::size_t>>> kinds;
  std::vector<std::pair<double, std::size_t>>* members_of_last = nullptr;
  const Json* last_model = nullptr;
  const tasks::TaskEntry* last_task = nullptr;
  ForwardWork forward;
  for (const std::size_t run : among) {
    const config::RunConfig& one = runs[run];
    if (!members_of_last || last_model != &one.model.values() || last_task != one.task_entry)
      members_of_last = &kinds[kind_of(one)];
    last_model = &one.model.values();
    last_task = one.task_entry;
    members_of_last->emplace_back(step_work(one, forward), run);
  }
  std::map<std::string, std::size_t> chosen;
  for (auto& [kind, members] : kinds) {
    const auto middle = members.begin() + std::ssize(members) / 2;
    std::nth_element(members.begin(), middle, members.end());
    chosen[kind] = middle->second;
  }
  return chosen;
}

double estimated_seconds(const config::RunConfig& run, double share, double rate, ForwardWork& forward) {
  const auto number = [&](const char* name) { return static_cast<double>(run.train.integer(name)); };
  const double evaluated = number("steps") / number("eval_every") * number("eval_examples") + number("test_examples");
  const double trained = number("steps") * step_work(run, forward);
  return (share * (trained + evaluated * forward.of(run)) + tested_work(run)) / rate;
}

double estimated_seconds(const config::RunConfig& run, double share, const config::RunConfig& representative,
                         double step_seconds) {
  ForwardWork of_run, of_representative;
  return estimated_seconds(run, share, step_work(representative, of_representative) / step_seconds, of_run);
}

double makespan(std::vector<double> seconds, std::int64_t workers) {
  std::sort(seconds.begin(), seconds.end(), std::greater<>());
  std::priority_queue<double, std::vector<double>, std::greater<>> free_at;
  for (std::int64_t i = 0; i < std::min<std::int64_t>(workers, std::ssize(seconds)); ++i) free_at.push(0);
  double end = 0;
  for (const double one : seconds) {
    const double start = free_at.top();
    free_at.pop();
    free_at.push(start + one);
    end = std::max(end, start + one);
  }
  return end;
}

}  // namespace mneme::study
