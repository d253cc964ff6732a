#include "report/claims/judging.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "report/stats/format.h"

namespace mneme::report {
namespace {

using Is = Answer::Is;

const char* kDisagree = "seeds disagree";

double mean_of_draw(const std::vector<double>& values, const std::vector<std::size_t>& draw) {
  double sum = 0;
  for (const std::size_t seed : draw) sum += values[seed % values.size()];
  return sum / static_cast<double>(draw.size());
}

double share_of_draws(std::size_t seeds, const std::function<bool(const std::vector<std::size_t>&)>& holds) {
  const auto draws = study::seed_draws(seeds);
  const auto count = std::count_if(draws.begin(), draws.end(), holds);
  return static_cast<double>(count) / static_cast<double>(draws.size());
}

Answer by_share(double share) {
  // Rounding must not turn 19 of 20 into less.
  if (share >= kSure - 1e-9) return answer(true);
  if (share <= 1 - kSure + 1e-9) return answer(false);
  return unsure(fmt::format("{}: it holds in {:.0f} % of the draws", kDisagree, 100 * share));
}

Answer below_is_final(const Reading& reading, double level) {
  bool unknown = false;
  for (std::size_t i = 0; i < reading.values.size(); ++i) {
    if (reading.values[i] >= level) continue;
    if (reading.convergence[i] == Convergence::improving) return unsure("still improving");
    unknown |= reading.convergence[i] == Convergence::unknown;
  }
  return unknown ? unsure("too few evaluations to say that it had converged") : answer(false);
}

std::string width_text(const std::optional<study::Window>& window, const study::SeedGrid& grid) {
  if (!window) return "no window";
  const auto rate = [&](std::size_t at) { return format_rate(std::pow(10.0, grid.positions[at])); };
  const auto uncertainty = study::resample_seeds(grid, {});
  const std::string spread =
      uncertainty.width_error > 0 ? fmt::format(" ± {:.2f}", uncertainty.width_error) : std::string();
  return fmt::format("{}{:.2f}{} decades ({}{})", window->open() ? "at least " : "", window->width, spread,
                     rate(window->lo), window->hi == window->lo ? "" : " to " + rate(window->hi));
}

Answer is_wider(const study::SeedGrid& first, const study::SeedGrid& second, bool or_equal) {
  const study::WindowComparison both = study::compare_windows(first, second, {});
  const double yes = or_equal ? both.at_least : both.wider;
  const double no = or_equal ? both.narrower : both.narrower + both.equal;
  if (yes >= kSure - 1e-9) return answer(true);
  if (no >= kSure - 1e-9) return answer(false);
  // Had no end been open, would the seeds have decided?
  if (yes + no < kSure && both.unknown > 0)
    return unsure("a window reaches the end of the grid, so that its width is a lower bound");
  return unsure(fmt::format("{}: wider in {:.0f} %, equal in {:.0f} %, narrower in {:.0f} % of the draws", kDisagree,
                            100 * both.wider, 100 * both.equal, 100 * both.narrower));
}

Answer wider_after(const std::vector<Group>& groups, double share, bool or_equal, Numbers* numbers) {
  std::vector<study::SeedGrid> grids;
  for (const Group& group : groups) {
    const auto grid = group.evidence.grid(share);
    if (!grid) return why_none(group);
    grids.push_back(*grid);
    if (numbers != nullptr)
      numbers->add(fmt::format("{} {}", group.name, width_text(study::find_window(*grid, {}), *grid)));
  }
  std::vector<Answer> answers;
  for (std::size_t i = 1; i < grids.size(); ++i) {
    answers.push_back(is_wider(grids[0], grids[i], or_equal));
    if (share < 1 || study::find_window(grids[i], {})) continue;
    // No window may only mean that the budget was too short for every rate.
    if (const auto best = groups[i].evidence.accuracy(); best && converged(*best).is != Is::yes)
      answers.push_back(unsure(fmt::format("{} has no window and {}", groups[i].name, converged(*best).why)));
  }
  return all_of(answers);
}

std::string answer_name(const Answer& one) {
  return one.is == Is::yes ? "holds" : one.is == Is::no ? "does not hold" : "is undecided";
}

}  // namespace

Answer answer(bool holds) { return {holds ? Is::yes : Is::no, ""}; }
Answer unsure(std::string why) { return {Is::unsure, std::move(why)}; }

Answer no_such(const std::string& what) { return {Is::absent, "this scale has no " + what}; }

Answer operator!(Answer one) {
  if (one.is == Is::yes || one.is == Is::no) one.is = one.is == Is::yes ? Is::no : Is::yes;
  return one;
}

Answer all_of(const std::vector<Answer>& answers) {
  const auto first = [&](Is is) {
    return std::find_if(answers.begin(), answers.end(), [is](const Answer& one) { return one.is == is; });
  };
  for (const Is is : {Is::no, Is::absent, Is::unsure})
    if (const auto found = first(is); found != answers.end()) return *found;
  return answers.empty() ? Answer{Is::absent, "this scale has no such runs"} : answer(true);
}

Answer operator&&(const Answer& a, const Answer& b) { return all_of({a, b}); }

Judgement judged(const Answer& holds, std::string numbers) {
  switch (holds.is) {
    case Is::yes: return {Verdict::confirmed, "", std::move(numbers), ""};
    case Is::no: return {Verdict::contradicted, "", std::move(numbers), ""};
    case Is::unsure: return {Verdict::undecided, holds.why, std::move(numbers), ""};
    case Is::absent: break;
  }
  return {Verdict::not_run, holds.why, std::move(numbers), ""};
}

Answer why_none(const Group& group) {
  if (group.evidence.empty()) return {Is::absent, "this scale has no runs of " + group.name};
  return unsure("fewer than three seeds of " + group.name + ", or not tested");
}

Answer reaches(const Reading& reading, double level) {
  return by_share(share_of_draws(
      reading.values.size(), [&](const auto& draw) { return mean_of_draw(reading.values, draw) >= level - 1e-12; }));
}

Answer at_least(const Reading& reading, double level) {
  const Answer reached = reaches(reading, level);
  if (reached.is == Is::yes) return reached;
  const Answer final = below_is_final(reading, level);
  return final.is == Is::no ? reached : final;
}

Answer exceeds(const Reading& first, const Reading& second, double gain) {
  const std::size_t seeds = std::max(first.values.size(), second.values.size());
  const Answer more = by_share(share_of_draws(seeds, [&](const auto& draw) {
    return mean_of_draw(first.values, draw) - mean_of_draw(second.values, draw) >= gain - 1e-12;
  }));
  if (more.is == Is::yes) return more;
  // What is cut short might have gained more.
  const Answer final = below_is_final(first, kSolved);
  return final.is == Is::no ? more : final;
}

Answer is_about(const Reading& reading, double level) {
  const Answer near = by_share(share_of_draws(reading.values.size(), [&](const auto& draw) {
    return std::abs(mean_of_draw(reading.values, draw) - level) <= level / 3 + 1e-12;
  }));
  const Answer above = reaches(reading, 4 * level / 3);
  if (above.is == Is::yes) return answer(false);  // more training only takes it further away
  const Answer final = below_is_final(reading, kSolved);
  return final.is == Is::no ? near : final;
}

Answer converged(const Reading& reading) { return !below_is_final(reading, 2.0); }

std::string reading_text(const std::string& name, const Reading& reading) {
  const auto [least, most] = std::minmax_element(reading.values.begin(), reading.values.end());
  const std::string range =
      *most - *least < 0.01 ? std::string() : fmt::format(" ({} to {})", format_percent(*least), format_percent(*most));
  return fmt::format("{} {} %{}", name, format_percent(reading.mean()), range);
}

Judgement judge_solved(const std::vector<Group>& groups, bool solved, double level) {
  Numbers numbers;
  std::vector<Answer> answers;
  for (const Group& group : groups) {
    const auto accuracy = group.evidence.accuracy();
    if (!accuracy) {
      answers.push_back(why_none(group));
      continue;
    }
    numbers.add(reading_text(group.name, *accuracy));
    const Answer reached = at_least(*accuracy, level);
    answers.push_back(solved ? reached : !reached);
  }
  return judged(all_of(answers), numbers.text());
}

Judgement judge_wider(const std::vector<Group>& groups, bool or_equal) {
  Numbers numbers;
  const Answer whole = wider_after(groups, 1, or_equal, &numbers);
  std::string text = numbers.text();
  if (std::all_of(groups.begin(), groups.end(), [](const Group& group) { return group.evidence.has_curves(); })) {
    const Answer half = wider_after(groups, 0.5, or_equal, nullptr),
                 quarter = wider_after(groups, 0.25, or_equal, nullptr);
    if (half.is == whole.is && quarter.is == whole.is)
      text += "; the same at a half and a quarter of the budget";
    else
      text += fmt::format("; at half the budget it {}, at a quarter it {}", answer_name(half), answer_name(quarter));
  }
  return judged(whole, text);
}

}  // namespace mneme::report
