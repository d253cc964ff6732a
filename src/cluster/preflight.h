// What is checked before anything is submitted.
#pragma once

#include <string>
#include <vector>

#include "cluster/slurm.h"
#include "cluster/slurm_settings.h"
#include "store/lab.h"

namespace mneme::cluster {

// Throws Error(usage) for an unknown partition, with the nearest name.
void check_partition(const SlurmSettings& settings, const std::vector<SlurmPartition>& partitions);

// Throws Error(usage) if the lab is on a disk of this machine alone while jobs would run on others.
void check_shared(const store::Lab& lab, const SlurmSettings& settings, const std::vector<SlurmPartition>& partitions);

// Throws Error(usage) if several nodes would not see each other's leases or the address would show a password in the
// script, DatabaseError if the database cannot be used, and Error(io) if this user may not write its table.
void check_leases(const store::Lab& lab, const SlurmSettings& settings);

// Throws Error(io) if locks on the lab's disk would not keep another process out and runs are not to be staged.
void check_locks(const store::Lab& lab, const SlurmSettings& settings);

// The kind of file system that a directory is on, or will be: "nfs", "ext4", "0x..." for one that has no name here; and
// whether other machines can have the same one.
struct DiskKind {
  std::string name;
  bool network = false;
};
DiskKind disk_kind(const Path& directory);

}  // namespace mneme::cluster
