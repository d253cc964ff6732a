// Writing down that a run failed, when its worker no longer can.
#pragma once

#include <string>

#include "catalog/run_config.h"
#include "store/run_directory.h"

namespace mneme {

// Writes summary.json with outcome failed, the reason and the last metrics, under the run's lock; nothing
// if the run has ended after all. Returns "" or why it could not be written.
std::string record_failure(const RunDirectory& directory, const RunConfig& run, const std::string& reason);

}  // namespace mneme
