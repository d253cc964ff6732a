// Which runs fit into the time that a job has left.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>

#include "config/run_config.h"
#include "store/lab.h"

namespace mneme::cluster {

// A run is started if what is left of it fits before the warning. One that is longer than a whole job can only be
// trained in pieces, from checkpoint to checkpoint: it is started if a piece of some size fits. A run that would fit
// into a whole job but not into the rest of this one is left for the next: it would be split in two for nothing.
class TimeLeft {
 public:
  using Clock = std::chrono::steady_clock;

  // `usable`: seconds from now until the warning. `seconds`: what each run takes as a whole, by id; a run that is not
  // there fits, since nothing is known of it.
  TimeLeft(double usable, std::map<std::string, double> seconds, Clock::time_point now = Clock::now());

  // Even from its first step: true says that `fits` is true whatever is left of it.
  bool fits_whole(const std::string& run, Clock::time_point now = Clock::now()) const;
  // `share`: of the run that is still to be trained, 0 to 1.
  bool fits(const std::string& run, double share, Clock::time_point now = Clock::now()) const;

 private:
  double usable_;
  std::map<std::string, double> seconds_;
  Clock::time_point start_;
};

// The share of a run that is left, from the last evaluation in its directory; 1 where nothing is known.
double share_left(const config::RunConfig& run, const store::RunDirectory& directory);

// What every run of the list takes on this machine, by id. One step of each kind is measured unless the lab knows it;
// if not `measure`, runs of a kind that it does not know are missing.
std::map<std::string, double> whole_seconds(std::span<const config::RunConfig> runs, const store::Lab& lab,
                                            bool measure);

}  // namespace mneme::cluster
