#include "cluster/slurm.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "cluster/slurm_settings.h"
#include "core/error.h"
#include "core/subprocess.h"
#include "core/text.h"

namespace mneme::cluster {
namespace {

constexpr const char* kMissing =
    "not found; --executor slurm needs Slurm's commands on this machine: run it on a login node of the cluster, or "
    "leave --executor out to train here";

// The last lines say what was wrong; "sbatch: error: " and the like say nothing.
std::string said(const ProcessResult& result) {
  std::vector<std::string> lines;
  for (std::string line : split(result.err, '\n')) {
    for (const std::string_view prefix : {"sbatch: ", "error: ", "sinfo: ", "squeue: ", "allocation failure: "})
      if (line.starts_with(prefix)) line.erase(0, prefix.size());
    if (!line.empty()) lines.push_back(std::move(line));
  }
  constexpr std::size_t kLines = 2;
  if (lines.size() > kLines) lines.erase(lines.begin(), lines.end() - kLines);
  return lines.empty() ? fmt::format("exit code {}", result.exit_code) : join(lines, "; ");
}

}  // namespace

std::vector<SlurmPartition> slurm_partitions() {
  for (const char* program : {"sbatch", "sinfo", "squeue"})
    if (!program_exists(program)) throw Error(ErrorKind::io, program, kMissing);
  // All of them: of one that is closed to this user, sbatch says that it is, which is more than that there is none.
  const ProcessResult result = run_process({"sinfo", "-h", "-a", "-o", "%R|%n"});
  if (result.exit_code != 0)
    throw Error(ErrorKind::io, "sinfo", fmt::format("Slurm does not answer: {}", said(result)));
  std::vector<SlurmPartition> partitions;
  for (const std::string& line : split(result.out, '\n')) {
    const std::vector<std::string> parts = split(line, '|');
    if (parts.size() != 2) continue;
    auto found = std::find_if(partitions.begin(), partitions.end(),
                              [&](const SlurmPartition& partition) { return partition.name == parts[0]; });
    if (found == partitions.end()) found = partitions.insert(partitions.end(), {parts[0], {}});
    for (const std::string& host : split(parts[1], ',')) found->hosts.push_back(host);
  }
  return partitions;
}

void test_script(const Path& script) {
  const ProcessResult result = run_process({"sbatch", "--test-only", script.string()});
  if (result.exit_code != 0)
    throw Error(ErrorKind::usage, "sbatch", fmt::format("Slurm would refuse this job: {}", said(result)));
}

std::string submit_script(const Path& script) {
  const ProcessResult result = run_process({"sbatch", "--parsable", script.string()});
  if (result.exit_code != 0)
    throw Error(ErrorKind::io, "sbatch", fmt::format("Slurm refused the job: {}", said(result)));
  // "12" or "12;cluster".
  return split(split(result.out, '\n').front(), ';').front();
}

std::optional<std::map<std::string, std::vector<SlurmJob>>> slurm_jobs(const std::vector<std::string>& ids) {
  std::map<std::string, std::vector<SlurmJob>> jobs;
  for (const std::string& id : ids) jobs[id];
  if (ids.empty()) return jobs;
  if (!program_exists("squeue")) return std::nullopt;
  const ProcessResult result = run_process({"squeue", "-h", "-r", "-j", join(ids, ","), "-o", "%i|%T|%N|%M|%L|%r"});
  // A single job that has ended some minutes ago is unknown; in a list, Slurm passes over it.
  if (result.exit_code != 0 && result.err.find("Invalid job id") == result.err.npos) return std::nullopt;
  for (const std::string& line : split(result.out, '\n')) {
    const std::vector<std::string> parts = split(line, '|');
    if (parts.size() >= 6)
      jobs[parts[0].substr(0, parts[0].find('_'))].push_back(
          {parts[0], parts[1], parts[2], parts[5], parts[3], parts[4]});
  }
  return jobs;
}

bool cancel_job(const std::string& id) { return run_process({"scancel", id}).exit_code == 0; }

std::string our_job() {
  const auto variable = [](const char* name) -> std::string {
    const char* value = std::getenv(name);
    return value ? value : "";
  };
  const std::string array = variable("SLURM_ARRAY_JOB_ID"), task = variable("SLURM_ARRAY_TASK_ID");
  return array.empty() || task.empty() ? variable("SLURM_JOB_ID") : array + "_" + task;
}

bool requeue_job(const std::string& id) {
  // Slurm ends every process of the job at once, and scontrol is one of them: killed means that the wish was taken.
  const int code = run_process({"scontrol", "requeue", id}).exit_code;
  return code == 0 || code > 128;
}

bool avoid_node(const std::string& id, const std::string& node) {
  return run_process({"scontrol", "update", "JobId=" + id, "ExcNodeList=" + node}).exit_code == 0;
}

std::optional<double> seconds_left(const std::string& id) try {
  const ProcessResult result = run_process({"squeue", "-h", "-j", id, "-o", "%L"});
  if (result.exit_code != 0 || result.out.find(':') == result.out.npos) return std::nullopt;
  return parse_slurm_time(split(result.out, '\n').front(), "squeue");
} catch (const Error&) {
  return std::nullopt;
}

}  // namespace mneme::cluster
