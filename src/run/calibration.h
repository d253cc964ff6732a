// How long a step takes on this machine and how much memory it needs, measured once and remembered.
#pragma once

#include <map>
#include <span>
#include <string>

#include "config/run_config.h"
#include "store/lab.h"

namespace mneme::run {

struct StepCost {
  double seconds = 0;
  double bytes = 0;  // that a worker held at most while it trained
};

// The cost of a training step of each run, by id. What the lab's calibration.json does not know for this machine is
// measured with a worker (about a second each) and added to it, unless `measure` is false: then it is missing.
std::map<std::string, StepCost> calibrated_steps(std::span<const config::RunConfig* const> runs, const store::Lab& lab,
                                                 bool measure);

// Memory that processes of this machine can have now, in bytes.
double available_memory();

}  // namespace mneme::run
