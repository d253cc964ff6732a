// What a study will cost, before it is run.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "store/index.h"
#include "study/study.h"

namespace mneme::study {

struct WorkAmount {
  std::int64_t runs = 0;
  double tokens = 0;  // of training
  double flops = 0;   // useful, of training: forward and backward
};

struct StudyPlan {
  WorkAmount total, missing;
  std::map<store::RunState, std::int64_t> states;  // of the runs, those never started counting as fresh
  std::vector<std::size_t> to_run;                 // numbers of the runs that a sweep would run
  std::vector<double> share;                       // of each of them that is left, 0 to 1
};

// `states` is Index::states(): what the lab has. Runs that are set aside, cancelled or have ended are not missing.
StudyPlan make_plan(const Study& study,
                    const std::unordered_map<std::string, std::pair<store::RunState, std::int64_t>>& states);

// For each kind of run (mixers, block by block) the one whose step is of median work: what to measure.
// Every run's kind is `kind_of`.
std::string kind_of(const config::RunConfig& run);
std::map<std::string, std::size_t> representatives(std::span<const config::RunConfig> runs,
                                                   std::span<const std::size_t> among);

// Useful work of a forward pass of runs in turn: it is counted again only where task or model are others than before.
// Runs of a grid share the values of their options, so places in memory tell.
class ForwardWork {
 public:
  double of(const config::RunConfig& run);

 private:
  const Json *task_ = nullptr, *model_ = nullptr;
  double flops_ = 0;
};

// Useful floating-point operations of a step, forward and backward.
double step_work(const config::RunConfig& run, ForwardWork& forward);

// Seconds that the rest of a run takes on one core, at a rate of useful operations per second: steps, evaluations and
// the tests of [test] scale with useful work.
double estimated_seconds(const config::RunConfig& run, double share, double rate, ForwardWork& forward);
// The same from the measured step of its kind's representative.
double estimated_seconds(const config::RunConfig& run, double share, const config::RunConfig& representative,
                         double step_seconds);

// Seconds until everything is done when `workers` take the longest first.
double makespan(std::vector<double> seconds, std::int64_t workers);

}  // namespace mneme::study
