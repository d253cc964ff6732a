#include "study/plan.h"

#include <algorithm>
#include <functional>
#include <queue>

#include "config/test_config.h"

namespace mneme::study {
namespace {

double step_work(const config::RunConfig& run) {
  return run.training_flops() / static_cast<double>(run.train.integer("steps"));
}

void add(WorkAmount& amount, const config::RunConfig& run, double share) {
  ++amount.runs;
  amount.tokens += share * static_cast<double>(run.train.integer("steps")) *
                   static_cast<double>(run.train.integer("batch") * run.shape.length);
  amount.flops += share * run.training_flops();
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

StudyPlan make_plan(const Study& study,
                    const std::unordered_map<std::string, std::pair<store::RunState, std::int64_t>>& states) {
  StudyPlan plan;
  for (std::size_t i = 0; i < study.runs.size(); ++i) {
    const config::RunConfig& run = study.runs[i];
    const auto found = states.find(run.id);
    const auto [state, steps] =
        found == states.end() ? std::pair{store::RunState::fresh, std::int64_t{0}} : found->second;
    ++plan.states[state];
    add(plan.total, run, 1);
    if (state == store::RunState::done || state == store::RunState::diverged || state == store::RunState::cancelled)
      continue;
    const double trained = state == store::RunState::failed ? 0.0 : static_cast<double>(steps);
    const double left = std::max(0.0, 1.0 - trained / static_cast<double>(run.train.integer("steps")));
    plan.to_run.push_back(i);
    plan.share.push_back(left);
    add(plan.missing, run, left);
  }
  return plan;
}

std::string kind_of(const config::RunConfig& run) {
  return run.model.text("mixer") + " + " + run.model.text("state_mixer") + ", " + run.task_entry->name;
}

std::map<std::string, std::size_t> representatives(std::span<const config::RunConfig> runs,
                                                   std::span<const std::size_t> among) {
  std::map<std::string, std::vector<std::pair<double, std::size_t>>> kinds;
  for (const std::size_t run : among) kinds[kind_of(runs[run])].emplace_back(step_work(runs[run]), run);
  std::map<std::string, std::size_t> chosen;
  for (auto& [kind, members] : kinds) {
    const auto middle = members.begin() + std::ssize(members) / 2;
    std::nth_element(members.begin(), middle, members.end());
    chosen[kind] = middle->second;
  }
  return chosen;
}

double estimated_seconds(const config::RunConfig& run, double share, const config::RunConfig& representative,
                         double step_seconds) {
  const double rate = step_work(representative) / step_seconds;
  const auto number = [&](const char* name) { return static_cast<double>(run.train.integer(name)); };
  const double evaluated = number("steps") / number("eval_every") * number("eval_examples") + number("test_examples");
  return (share * (run.training_flops() + evaluated * run.forward_flops_per_example()) + tested_work(run)) / rate;
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
