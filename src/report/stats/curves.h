// What a run's evaluations say beyond its last one: what it cost to solve the task, where it was after a part of its
// budget, how much the learning rate matters, and whether it had converged.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "report/stats/rows.h"
#include "report/stats/statistics.h"

namespace mneme::report {

// Steps of the run's budget (train.steps), whether or not it made them all; 0 if the configuration does not say.
std::int64_t budget_steps(const ResultRow& row);

// True if there is an evaluation and it is known how long the budget was.
bool has_curve(const ResultRow& row);

// Validation score at the last evaluation within this share of the budget; 0 before the first. A run that ended
// earlier, because it was solved or diverged, counts with its last one. Part of a budget is not a smaller budget: the
// schedule was that of the whole.
double score_by(const ResultRow& row, double share);

// Tokens of training until the first evaluation with at least this validation score; nothing if there was none.
std::optional<double> tokens_until(const ResultRow& row, double score);
// Tokens of the whole budget.
double budget_tokens(const ResultRow& row);

// Validation loss at the end, at most the initial loss: what a run that diverged counts with.
std::optional<double> capped_loss(const ResultRow& row);

// Sensitivity to the learning rate: for each seed the mean over its rates of the loss above the lowest of them, both
// capped at the initial loss (after Wortsman et al., 2023); then over seeds. Nothing if a run does not say its loss.
std::optional<Summary> rate_sensitivity(const std::vector<const ResultRow*>& results);

// A run has *converged* if it could not be expected to do better with more steps of the same kind: from the third to
// the last quarter of its evaluations the mean validation loss fell by less than kLossTrend of the initial loss, and
// the mean accuracy rose by less than kAccuracyTrend. It needs at least kLeastEvaluations. A run that diverged has
// converged: it will not recover. A plateau that a model would leave later looks the same: the criterion finds runs
// that were cut short, not those that were never going to be long enough.
inline constexpr double kLossTrend = 0.02;
inline constexpr double kAccuracyTrend = 0.01;
inline constexpr std::size_t kLeastEvaluations = 8;

enum class Convergence { converged, improving, unknown };  // unknown: too few evaluations
Convergence convergence_of(const ResultRow& row);

}  // namespace mneme::report
