// Slurm's own commands, as Mneme uses them. Nothing here knows of runs.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/files.h"

namespace mneme::cluster {

// One job or task of an array, as squeue tells.
struct SlurmJob {
  std::string id;     // "12_3"
  std::string state;  // "RUNNING", "PENDING", "COMPLETING", ...
  std::string node;   // "" while it waits
  std::string reason;
  std::string elapsed, left;  // as Slurm writes times
};

struct SlurmPartition {
  std::string name;
  std::vector<std::string> hosts;  // host names of its nodes
};

// Throws Error(io) if sbatch is not there or Slurm does not answer; says which.
std::vector<SlurmPartition> slurm_partitions();

// Asks Slurm whether it would take the script, without submitting it. Throws Error(usage) with Slurm's own reason.
void test_script(const Path& script);
// Submits; the job's id. Throws Error(io) with Slurm's own reason.
std::string submit_script(const Path& script);

// What is left of these jobs and arrays in the queue, by id, asked for at once; empty for one of which all has ended.
// Nothing if Slurm does not answer.
std::optional<std::map<std::string, std::vector<SlurmJob>>> slurm_jobs(const std::vector<std::string>& ids);
// True if Slurm accepted the request.
bool cancel_job(const std::string& id);

// For the job itself. Its name for Slurm's commands: "12_3" for a task of an array, "" outside of Slurm. SLURM_JOB_ID
// will not do: the last task of an array has the id of the whole array, and what is asked for it is done to every task.
std::string our_job();
bool requeue_job(const std::string& id);
bool avoid_node(const std::string& id, const std::string& node);
// Seconds that the job may still run; nothing if that has no limit or is not known.
std::optional<double> seconds_left(const std::string& id);

}  // namespace mneme::cluster
