// A private Slurm and PostgreSQL with a lab, for tests of sweeps by jobs.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "cluster/slurm_server.h"
#include "core/subprocess.h"
#include "core/text.h"
#include "store/index.h"
#include "store/sample_lab.h"
#include "support/places.h"
#include "support/postgres_server.h"

namespace mneme::testing {

// What a study's runs came to in a lab.
struct Account {
  std::size_t runs = 0, ended = 0, once = 0;
  std::string table;  // results, without anything that depends on time
};

inline Account account_of(const store::Lab& lab) {
  Account account;
  Json rows = Json::array();
  for (const store::RunRecord& record : store::Index::open(lab).query()) {
    ++account.runs;
    account.ended += record.ended() ? 1 : 0;
    const Path log = lab.run(record.id).path() / "log.txt";
    std::size_t endings = 0;
    for (const std::string& line : split(std::filesystem::exists(log) ? read_file(log) : "", '\n'))
      endings += line.find("Z done: ") != line.npos || line.find("Z diverged: ") != line.npos ? 1 : 0;
    account.once += endings == 1 ? 1 : 0;
    const Json summary = record.summary.empty() ? Json::object() : parse_json(record.summary, record.id);
    Json metrics = Json::array();
    for (const Json& metric : lab.run(record.id).metrics()) metrics.push_back({metric["step"], metric["values"]});
    rows.push_back(
        {record.id, store::run_state_name(record.state), record.reason, summary.value("values", Json()), metrics});
  }
  account.table = rows.dump();
  return account;
}

class ClusterTest : public ::testing::Test {
 protected:
  explicit ClusterTest(int nodes) : nodes_(nodes) {}
  void SetUp() override { start(); }
  void start() {
    slurm_ = std::make_unique<SlurmServer>(nodes_);
    if (slurm_->missing()) GTEST_SKIP() << slurm_->why();
    database_ = std::make_unique<PostgresServer>();
    MNEME_NEEDS_POSTGRES(*database_);
  }
  const SlurmServer& slurm() const { return *slurm_; }
  const PostgresServer& database() const { return *database_; }

  std::vector<std::string> environment() const {
    return {"env", "SLURM_CONF=" + slurm().conf(), "MNEME_LEASES=" + database().address(), "MNEME_LEASE=" + lease,
            "XDG_CONFIG_HOME=" + (sample.directory / "config").string()};
  }
  std::vector<std::string> mneme_arguments(const std::vector<std::string>& arguments) const {
    std::vector<std::string> all = environment();
    all.push_back(binary_directory() + "/mneme");
    all.insert(all.end(), arguments.begin(), arguments.end());
    all.insert(all.end(), {"--lab", lab.root().string()});
    return all;
  }
  ProcessResult mneme(const std::vector<std::string>& arguments) const {
    return run_process(mneme_arguments(arguments));
  }
  // The same study on this machine, without Slurm.
  Account on_this_machine(const std::vector<std::string>& arguments) const {
    const SampleLab calm;
    std::vector<std::string> all{binary_directory() + "/mneme", "sweep"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    all.insert(all.end(), {"--lab", calm.lab.root().string(), "--json"});
    const ProcessResult result = run_process(all);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return account_of(calm.lab);
  }
  Json status() const {
    const ProcessResult result = mneme({"status", "--json"});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return result.exit_code == 0 ? parse_json(result.out, "status") : Json::object();
  }
  // Polls until it holds. Gives up after what is too long on any machine: how busy it is decides nothing.
  static bool wait_until(const std::function<bool()>& holds) {
    constexpr auto kPatience = std::chrono::hours(1);
    const auto start = std::chrono::steady_clock::now();
    while (!holds()) {
      if (std::chrono::steady_clock::now() - start > kPatience) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
    }
    return true;
  }
  bool queue_empty() const { return slurm().command({"squeue", "-h"}).out.empty(); }
  std::string logs() const {
    std::string text;
    std::error_code missing;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(lab.root() / "jobs", missing))
      if (entry.path().extension() == ".log") text += entry.path().string() + ":\n" + read_file(entry.path());
    return text;
  }
  // Every run ended, once, with the same results as on this machine.
  void expect_whole(const Account& calm, const char* what) const {
    const Account account = account_of(lab);
    EXPECT_EQ(account.runs, calm.runs) << logs();
    EXPECT_EQ(account.ended, calm.runs) << logs();
    EXPECT_EQ(account.once, calm.runs) << "a run ended twice, or never";
    EXPECT_EQ(account.table, calm.table) << "results differ from those of one machine";
    std::printf("%s: %zu planned, %zu ended, %zu exactly once, %s\n", what, calm.runs, account.ended, account.once,
                account.table == calm.table ? "table equal to the local one" : "TABLE DIFFERS");
  }

  SampleLab sample;
  store::Lab lab{sample.lab.root()};
  std::string lease = "20s";

 private:
  int nodes_;
  std::unique_ptr<SlurmServer> slurm_;
  std::unique_ptr<PostgresServer> database_;
};

}  // namespace mneme::testing
