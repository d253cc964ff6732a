// How a site's Slurm is to be asked: from slurm.toml and from the command line.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "store/lab.h"

namespace mneme::cluster {

struct SlurmSettings {
  std::int64_t nodes = 1;    // tasks of the array, each on one node
  std::int64_t workers = 1;  // single-threaded worker processes of each
  std::string time = {};     // as Slurm writes it: "4:00:00"; "": the partition's own limit
  std::string partition = {}, account = {};
  std::vector<std::string> sbatch = {};  // more options of sbatch, as they would be written after #SBATCH
  std::vector<std::string> setup = {};   // lines of shell before the work: `module load ...`
  std::int64_t memory = 0;               // megabytes of a node; 0: from the measured estimate
  std::int64_t warning = 120;            // seconds before the time limit at which workers write checkpoints and leave
  std::int64_t requeues = 50;            // of a task, at most
  std::string leases = {};               // PostgreSQL URL, unless --leases or MNEME_LEASES say otherwise
  std::string stage = {};                // directory on the node's disk in which runs are trained; "": in the lab
  bool shared = false;  // the lab's directory is the same on every node, whatever it looks like from here
};

// ~/.config/mneme/slurm.toml (or under XDG_CONFIG_HOME), with LAB/slurm.toml laid over it. Files that are not there say
// nothing. Throws Error(usage) with file, line and column.
SlurmSettings load_slurm_settings(const store::Lab& lab);

// "30", "30:00", "4:00:00", "1-12", "1-12:30:00" in seconds, as Slurm reads them. Throws Error(usage).
double parse_slurm_time(std::string_view text, std::string_view where);

// Throws Error(usage) for what no cluster could do.
void check_settings(const SlurmSettings& settings);

}  // namespace mneme::cluster
