#include "report/claims/judging.h"

#include <fmt/format.h>

#include "report/stats/format.h"

namespace mneme::report {

std::string accuracy_text(const std::string& name, const Summary& summary) {
  return fmt::format("{} {} %", name, format_percent(summary.mean));
}

Judgement decide(bool holds, std::string numbers) {
  return {holds ? Verdict::confirmed : Verdict::contradicted, std::move(numbers)};
}

Judgement not_enough(std::string what) { return {Verdict::not_enough_runs, std::move(what)}; }

Judgement judge_solved(const std::vector<Group>& groups, bool solved) {
  std::string numbers;
  bool holds = true;
  for (const Group& group : groups) {
    const auto accuracy = group.evidence.accuracy();
    if (!accuracy) return not_enough("fewer than three seeds of " + group.name);
    numbers += (numbers.empty() ? "" : ", ") + accuracy_text(group.name, *accuracy);
    holds = holds && (accuracy->mean >= kSolved) == solved;
  }
  return decide(holds, numbers);
}

Judgement judge_wider(const std::vector<Group>& groups, bool or_equal) {
  std::string numbers, without;
  std::vector<double> decades;
  for (const Group& group : groups) {
    const auto series = group.evidence.rates();
    if (!series) return not_enough("fewer than three seeds at a rate of " + group.name);
    numbers += fmt::format("{}{} {} decades ({})", numbers.empty() ? "" : ", ", group.name,
                           describe_width(series->window), describe_range(series->window));
    if (!series->window) without += (without.empty() ? "" : ", ") + group.name;
    decades.push_back(series->window ? series->window->decades() : 0.0);
  }
  if (!without.empty()) return not_enough(numbers + ": without a window there is nothing to compare");
  // Rates are rounded to six digits, and so are the ends of windows.
  constexpr double kSameWidth = 1e-4;
  bool holds = true;
  for (std::size_t i = 1; i < decades.size(); ++i)
    holds = holds && (or_equal ? decades[0] > decades[i] - kSameWidth : decades[0] > decades[i] + kSameWidth);
  return decide(holds, numbers);
}

}  // namespace mneme::report
