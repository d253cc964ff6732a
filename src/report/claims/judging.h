// What claims are judged with.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "report/claims/claims.h"

namespace mneme::report {

// Accuracy from which a task counts as solved, in both papers.
inline constexpr double kSolved = 0.9;
// A difference of mean accuracies that is not noise between a handful of seeds.
inline constexpr double kGain = 0.05;

// Some results and what they are called.
struct Group {
  std::string name;
  Evidence evidence;
};

// "mamba 98.3".
std::string accuracy_text(const std::string& name, const Summary& summary);

// confirmed or contradicted.
Judgement decide(bool holds, std::string numbers);
Judgement not_enough(std::string what);

// Every group reaches kSolved (or, with `solved` false, none does).
Judgement judge_solved(const std::vector<Group>& groups, bool solved);

// The first group's window is wider than those of all others (with `or_equal`: at least as wide). Groups without a
// window cannot be compared.
Judgement judge_wider(const std::vector<Group>& groups, bool or_equal = false);

}  // namespace mneme::report
