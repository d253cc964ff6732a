// Whether this machine, the lab's disk and the database can do what Mneme asks of them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cluster/slurm_settings.h"
#include "store/lab.h"

namespace mneme::cluster {

enum class Verdict { good, doubtful, bad };

std::string_view verdict_name(Verdict verdict);  // "ok", "warning", "FAILED"

struct Finding {
  std::string subject;
  Verdict verdict = Verdict::good;
  std::string text;
};

// flock between processes, rename over a file, hard links, fsync, the file server's clock, free space; in a directory
// of its own under `directory`, which is gone afterwards.
std::vector<Finding> examine_disk(const Path& directory);
// Only flock, also by what the mount says of it.
Finding examine_locks(const Path& directory);
// It starts, and is of this build; libtorch, threads and BLAS core.
std::vector<Finding> examine_worker();
// Reachable, may create or use the table, its clock. Empty if the lab's leases are in a file.
std::vector<Finding> examine_database(const store::Lab& lab);
// Slurm's commands and partitions, and whether its nodes can see the lab. Empty where Slurm is not installed.
std::vector<Finding> examine_slurm(const store::Lab& lab, const SlurmSettings& settings);

// Why locks on a mounted disk would not reach other machines; "" if nothing speaks against it. `type` and `options` as
// in /proc/mounts.
std::string lock_trouble(std::string_view type, std::string_view options);

}  // namespace mneme::cluster
