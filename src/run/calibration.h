// How long a step takes on this machine, measured once and remembered.
#pragma once

#include <map>
#include <span>
#include <string>

#include "config/run_config.h"
#include "store/lab.h"

namespace mneme::run {

// Seconds of a training step of each run, by id. What the lab's calibration.json does not know for this machine is
// measured with a worker (about a second each) and added to it, unless `measure` is false: then it is missing.
std::map<std::string, double> calibrated_steps(std::span<const config::RunConfig* const> runs, const store::Lab& lab,
                                               bool measure);

}  // namespace mneme::run
