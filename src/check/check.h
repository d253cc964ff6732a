// What every mixer must do: the checks of `mneme check` and of the one parametrised test.
//
// A mixer that a user has just written goes through the same list as the oldest one. No check knows a
// mixer's name; what may differ (looking ahead, a growing state) is what the catalog entry declares.
#pragma once

#include <string>
#include <vector>

#include "check/subject.h"

namespace mneme::check {

struct Finding {
  enum class Verdict { passed, failed, not_applicable };
  Verdict verdict;
  std::string detail;  // what was measured, for a person

  static Finding passed_if(bool ok, std::string detail) {
    return {ok ? Verdict::passed : Verdict::failed, std::move(detail)};
  }
};

struct Check {
  std::string name;
  std::string promise;  // what a pass means
  Finding (*examine)(const Subject&);
};

// shape, causality, order, repeat, gradient, kernels, step, state, parameters, file, memory: each repeats to the bit.
const std::vector<Check>& mixer_checks();

// Time of forward and backward against length. Depends on the machine and its load, so it is a measurement
// of `mneme check` and no test.
const Check& cost_check();

// Runs a check; whatever it throws is a failure with that message.
Finding run_check(const Check& check, const Subject& subject);

// True if permuting earlier tokens changes the last output: for a mixer that does not say.
bool sees_order(const Subject& subject);

Finding check_shape(const Subject& subject);
Finding check_causality(const Subject& subject);
Finding check_order(const Subject& subject);
Finding check_repeat(const Subject& subject);
Finding check_gradient(const Subject& subject);
Finding check_kernels(const Subject& subject);
Finding check_step(const Subject& subject);
Finding check_state(const Subject& subject);
Finding check_parameters(const Subject& subject);
Finding check_file(const Subject& subject);
Finding check_memory(const Subject& subject);
Finding check_cost(const Subject& subject);

}  // namespace mneme::check
