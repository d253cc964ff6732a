// How much memory a job asks for.
#pragma once

#include <cstdint>
#include <span>

#include "cluster/slurm_settings.h"
#include "config/run_config.h"
#include "store/lab.h"

namespace mneme::cluster {

// Megabytes of a node: as the settings say, else what its workers need at most by the measured estimate of `mneme
// plan`, with a reserve. What the lab does not know is measured if `measure`; 0 if nothing is known: the cluster's own
// default then holds.
std::int64_t memory_of_node(std::span<const config::RunConfig> runs, const store::Lab& lab,
                            const SlurmSettings& settings, bool measure);

}  // namespace mneme::cluster
