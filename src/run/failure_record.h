// Writing down how a run ended, when its worker no longer can.
#pragma once

#include <string>

#include "config/run_config.h"
#include "store/run_directory.h"

namespace mneme::run {

struct Ending {
  std::string outcome = "failed";  // or "cancelled"
  std::string reason;
  bool set_aside = false;  // not to be tried again by itself
};

// Writes summary.json with the ending and the last metrics, as the run's attempt `attempt`; nothing if the run
// has ended after all. Returns "" or why it could not be written.
std::string record_ending(const store::RunDirectory& directory, const std::string& id, std::int64_t attempt,
                          const Ending& ending);

// Counts a worker that the run has killed. Returns how many there were, as far as is known.
std::int64_t record_death(const store::RunDirectory& directory, std::int64_t attempt,
                          const std::vector<std::string>& log);

}  // namespace mneme::run
