// The tools that judge claims.
//
// A question about results has an answer: yes, no, or unsure with a reason. Numbers over seeds are answered by
// resampling them (study/window_seeds.h): yes if it holds in at least kSure of the draws, no if it fails in as many,
// else unsure, because the seeds disagree. "Not solved" is an answer only for runs that had converged
// (report/stats/curves.h): a claim must not be decided by a budget that was too short.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "report/claims/claims.h"

namespace mneme::report {

// Accuracy from which a task counts as solved, in both papers; copying and denoising of paper B end training at 99 %.
inline constexpr double kSolved = 0.9;
inline constexpr double kCopied = 0.99;
// The smallest difference of mean accuracies that counts.
inline constexpr double kGain = 0.05;
// Share of the draws of seeds that decides.
inline constexpr double kSure = 0.95;

struct Answer {
  enum class Is { yes, no, unsure, absent };  // absent: this scale has no such runs
  Is is = Is::unsure;
  std::string why;  // of unsure and absent
};
Answer answer(bool holds);
Answer unsure(std::string why);
// Absent: "this scale has no " what.
Answer no_such(const std::string& what);
Answer operator!(Answer one);
// No if one is no; else absent or unsure if one is; else yes. Absent for none at all.
Answer all_of(const std::vector<Answer>& answers);
Answer operator&&(const Answer& a, const Answer& b);
Judgement judged(const Answer& holds, std::string numbers);

// Some results and what they are called.
struct Group {
  std::string name;
  Evidence evidence;
};

// Why a reading is not there: no such runs at this scale, or fewer than three seeds.
Answer why_none(const Group& group);

// Is the mean at least `level`? A mean below it is only a no if the runs below it had converged.
Answer at_least(const Reading& reading, double level);
// The same for what is counted and not trained further, such as tests beyond training: no question of convergence.
Answer reaches(const Reading& reading, double level);
// Is the first mean above the second by `gain`? Paired by seed where both have as many.
Answer exceeds(const Reading& first, const Reading& second, double gain);
// Is the mean within a third of `level`, and had the runs converged?
Answer is_about(const Reading& reading, double level);
// Had they all converged?
Answer converged(const Reading& reading);

// "mamba 98.3 %", with the range over seeds if that is wider than a point.
std::string reading_text(const std::string& name, const Reading& reading);

// Numbers of several parts with commas between.
class Numbers {
 public:
  void add(const std::string& text) { text_ += (text_.empty() ? "" : ", ") + text; }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

// Every group reaches `level` (or, with `solved` false, none does).
Judgement judge_solved(const std::vector<Group>& groups, bool solved, double level = kSolved);

// The first group's window is wider than those of all others (with `or_equal`: at least as wide), by resampled seeds,
// open ends being bounds and no window the narrowest. Where curves are kept, what would be said of a half and a quarter
// of the budget is reported next to it.
Judgement judge_wider(const std::vector<Group>& groups, bool or_equal = false);

}  // namespace mneme::report
