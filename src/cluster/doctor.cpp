#include "cluster/doctor.h"

#include <fmt/format.h>

#include <chrono>
#include <cmath>

#include "cluster/preflight.h"
#include "cluster/slurm.h"
#include "core/code_identity.h"
#include "core/error.h"
#include "core/subprocess.h"
#include "core/text.h"
#include "run/worker.h"
#include "store/leases_postgres.h"
#include "store/postgres.h"

namespace mneme::cluster {
namespace {

using Clock = std::chrono::steady_clock;

double since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

double wall_clock() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

}  // namespace

std::string_view verdict_name(Verdict verdict) {
  switch (verdict) {
    case Verdict::good: return "ok";
    case Verdict::doubtful: return "warning";
    case Verdict::bad: return "FAILED";
  }
  return "";
}

std::vector<Finding> examine_worker() try {
  const Path worker = run::find_worker();
  const auto start = Clock::now();
  Json ready;
  run::ask_worker(worker, {{"request", "measure"}, {"configs", Json::array()}, {"seconds", 0.0}}, "ready",
                  [&](const Json& event) { ready = event; });
  std::vector<Finding> findings;
  findings.push_back({"worker", Verdict::good, fmt::format("{} starts in {:.1f} s", worker.string(), since(start))});
  if (ready.value("code", "") != this_code().build)
    findings.push_back(
        {"worker", Verdict::doubtful,
         fmt::format("is {}, this program is {}: build both",
                     describe({ready.value("version", ""), ready.value("code", "")}), describe(this_code()))});
  const Json fingerprint = ready.value("fingerprint", Json::object());
  const auto threads = fingerprint.value("threads", 0);
  findings.push_back({"libtorch", threads == 1 ? Verdict::good : Verdict::bad,
                      fmt::format("{}, {}, {} thread{}", fingerprint.value("libtorch", "?"),
                                  fingerprint.value("torch_cpu", "?"), threads, threads == 1 ? "" : "s")});
  const std::string core = fingerprint.value("blas", "?");
  // The core of 2004 that OpenBLAS falls back to.
  const bool slow = core.find("Prescott") != core.npos || core.find("PRESCOTT") != core.npos;
  findings.push_back({"BLAS core", slow ? Verdict::doubtful : Verdict::good,
                      slow ? core + ": matrix products will be slow; OPENBLAS_CORETYPE chooses another" : core});
  return findings;
} catch (const Error& error) {
  return {{"worker", Verdict::bad, error.what()}};
}

std::vector<Finding> examine_database(const store::Lab& lab) try {
  if (lab.leases_address().empty()) return {};
  const auto start = Clock::now();
  store::PostgresConnection connection(lab.leases_address());
  const double connected = since(start);
  const double before = wall_clock();
  const double server =
      std::stod(connection.execute("SELECT extract(epoch FROM clock_timestamp())::float8").at(0).at(0));
  const double after = wall_clock();
  std::vector<Finding> findings{{"PostgreSQL", Verdict::good,
                                 fmt::format("{} answers: connected in {:.0f} ms, a query takes {:.1f} ms",
                                             connection.name(), 1000 * connected, 1000 * (after - before))}};
  const store::LeaseTable table = store::examine_lease_table(connection, store::lease_table(lab));
  findings.push_back({"lease table", table.trouble.empty() ? Verdict::good : Verdict::bad,
                      !table.trouble.empty() ? table.trouble
                      : table.exists         ? "can be read and written"
                                             : "will be created on first use"});
  // Leases expire by the server's clock alone, so a difference harms the reading of logs and nothing else.
  const double skew = server - (before + after) / 2;
  findings.push_back({"clock", std::abs(skew) > 2 ? Verdict::doubtful : Verdict::good,
                      fmt::format("{:+.3f} s between PostgreSQL and this machine", skew)});
  return findings;
} catch (const Error& error) {
  return {{"PostgreSQL", Verdict::bad, error.what()}};
}

std::vector<Finding> examine_slurm(const store::Lab& lab, const SlurmSettings& settings) try {
  if (!program_exists("sbatch")) return {};
  const std::vector<SlurmPartition> partitions = slurm_partitions();
  std::vector<std::string> names;
  for (const SlurmPartition& partition : partitions)
    names.push_back(
        fmt::format("{} ({} host{})", partition.name, partition.hosts.size(), partition.hosts.size() == 1 ? "" : "s"));
  std::vector<Finding> findings{{"Slurm", Verdict::good, "answers; partitions: " + join(names, ", ")}};
  try {
    check_partition(settings, partitions);
  } catch (const Error& error) {
    findings.push_back({"Slurm", Verdict::bad, error.what()});
  }
  try {
    check_shared(lab, settings, partitions);
  } catch (const Error& error) {
    // Good enough for training on this machine.
    findings.push_back({"Slurm", Verdict::doubtful, error.what()});
  }
  return findings;
} catch (const Error& error) {
  return {{"Slurm", Verdict::bad, error.what()}};
}

}  // namespace mneme::cluster
