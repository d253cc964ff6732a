#include "cluster/preflight.h"

#include <fmt/format.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <map>

#include "cluster/doctor.h"
#include "core/error.h"
#include "core/text.h"
#include "store/lease_holder.h"
#include "store/leases.h"
#include "store/leases_postgres.h"

namespace mneme::cluster {
namespace {

// Numbers of statfs(2) and of the makers of the file systems.
const std::map<std::uint32_t, DiskKind>& disk_kinds() {
  static const std::map<std::uint32_t, DiskKind> kinds = {
      {0x6969, {"nfs", true}},        {0x0BD00BD0, {"lustre", true}},   {0x47504653, {"gpfs", true}},
      {0x19830326, {"beegfs", true}}, {0x00C36400, {"ceph", true}},     {0xFF534D42, {"cifs", true}},
      {0xFE534D42, {"smb2", true}},   {0x5346414F, {"afs", true}},      {0x65735546, {"fuse", true}},
      {0x01161970, {"gfs2", true}},   {0x7461636F, {"ocfs2", true}},    {0x01021997, {"9p", true}},
      {0xAAD7AAEA, {"panfs", true}},  {0x503D3C3B, {"weka", true}},     {0x20030528, {"orangefs", true}},
      {0xEF53, {"ext4", false}},      {0x58465342, {"xfs", false}},     {0x9123683E, {"btrfs", false}},
      {0x01021994, {"tmpfs", false}}, {0x794C7630, {"overlay", false}}, {0x2FC12FC1, {"zfs", false}},
      {0xF2F52010, {"f2fs", false}},  {0x858458F6, {"ramfs", false}},
  };
  return kinds;
}

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? split(name.data(), '.').front() : "";
}

}  // namespace

DiskKind disk_kind(const Path& wanted) {
  // What is not there yet will be on its parent's disk.
  Path directory = std::filesystem::absolute(wanted);
  for (std::error_code missing; !std::filesystem::exists(directory, missing) && directory.has_relative_path();)
    directory = directory.parent_path();
  struct statfs info {};
  if (::statfs(directory.c_str(), &info) != 0) return {"unknown", false};
  const auto number = static_cast<std::uint32_t>(info.f_type);
  const auto found = disk_kinds().find(number);
  // What has no name here is more often a cluster's own disk than a machine's.
  return found != disk_kinds().end() ? found->second : DiskKind{fmt::format("{:#x}", number), true};
}

void check_partition(const SlurmSettings& settings, const std::vector<SlurmPartition>& partitions) {
  if (settings.partition.empty()) return;
  std::vector<std::string> names;
  for (const SlurmPartition& partition : partitions) names.push_back(partition.name);
  // Slurm takes a list of partitions, too.
  for (const std::string& wanted : split(settings.partition, ','))
    if (std::find(names.begin(), names.end(), wanted) == names.end())
      throw Error(ErrorKind::usage, "--partition",
                  fmt::format("Slurm has no partition '{}'{}", wanted, suggestion(wanted, names)));
}

void check_shared(const store::Lab& lab, const SlurmSettings& settings, const std::vector<SlurmPartition>& partitions) {
  const DiskKind kind = disk_kind(lab.root());
  if (settings.shared || kind.network) return;
  for (const SlurmPartition& partition : partitions)
    for (const std::string& host : partition.hosts)
      if (split(host, '.').front() != host_name())
        throw Error(
            ErrorKind::usage, lab.root().string(),
            fmt::format("this lab is on a disk of this machine ({}), which the node {} cannot see; choose one on a "
                        "shared disk with --lab, or set `shared = true` in slurm.toml if all nodes do share this one",
                        kind.name, host));
}

void check_leases(const store::Lab& lab, const SlurmSettings& settings) {
  const std::string& address = lab.leases_address();
  if (without_passwords(address) != address)
    throw Error(ErrorKind::usage, "--leases",
                "the address holds a password, which Slurm would store with the job; keep it in ~/.pgpass instead");
  if (address.empty() && settings.nodes > 1)
    throw Error(ErrorKind::usage, "--leases",
                fmt::format("{} nodes must share their leases, expected a PostgreSQL URL in --leases, "
                            "MNEME_LEASES or `leases` of slurm.toml",
                            settings.nodes));
  if (address.empty() && !settings.stage.empty())
    throw Error(ErrorKind::usage, "--stage",
                "staged runs are moved to the lab under their leases, which all nodes must share; expected a "
                "PostgreSQL URL in --leases, "
                "MNEME_LEASES or `leases` of slurm.toml");
  if (!address.empty()) {
    // Before the lab gets a name in a database that this user cannot use.
    store::PostgresConnection connection(address);
    const store::LeaseTable table = store::examine_lease_table(connection, store::lease_table(lab));
    if (!table.trouble.empty()) throw Error(ErrorKind::io, connection.name(), table.trouble);
  }
  store::open_leases(lab, {.holder = store::our_holder()});
}

void check_locks(const store::Lab& lab, const SlurmSettings& settings) {
  if (!settings.stage.empty()) return;
  if (const Finding locks = examine_locks(lab.root()); locks.verdict == Verdict::bad)
    throw Error(ErrorKind::io, lab.root().string(), "flock: " + locks.text);
}

}  // namespace mneme::cluster
