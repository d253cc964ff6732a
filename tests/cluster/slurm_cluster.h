// A private Slurm and PostgreSQL with a lab, for tests of sweeps by jobs; gone at the end, also if the test crashes.
#pragma once

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "core/subprocess.h"
#include "core/text.h"
#include "store/index.h"
#include "store/sample_lab.h"
#include "support/places.h"
#include "support/postgres_server.h"

namespace mneme::testing {

class SlurmServer {
 public:
  explicit SlurmServer(int nodes, int processors = 1)
      : process_({.argv = {"bash", source_directory() + "/tests/cluster/slurm_lab.sh", std::to_string(nodes),
                           std::to_string(processors)},
                  .environment = {}}) {
    while (conf_.empty() && !process_.exit_code()) {
      for (const std::string& line : process_.receive()) conf_ = line;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    EXPECT_TRUE(missing() || !conf_.empty()) << process_.error_tail();
  }
  ~SlurmServer() {
    process_.close_input();
    while (!process_.exit_code()) {
      process_.receive();
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  }
  SlurmServer(const SlurmServer&) = delete;
  SlurmServer& operator=(const SlurmServer&) = delete;

  bool missing() { return process_.exit_code() == 77; }
  std::string why() const { return process_.error_tail(); }
  const std::string& conf() const { return conf_; }
  Path directory() const { return Path(conf_).parent_path(); }

  ProcessResult command(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {"env", "SLURM_CONF=" + conf_});
    return run_process(arguments);
  }
  // The controller dies at once and is started again after a while.
  void kill_controller(std::chrono::milliseconds pause) const {
    kill_process(pid_in("slurmctld"));
    std::this_thread::sleep_for(pause);
    command({"/usr/sbin/slurmctld", "-f", conf_});
  }
  // As if its power had failed: slurmd, what it started and every process of its jobs. Returns how many processes.
  int kill_node(const std::string& node) const {
    kill_process(pid_in("slurmd-" + node));
    std::set<pid_t> doomed;
    for (const auto& [pid, environment] : processes()) {
      if (environment.find("SLURM_CONF=" + conf_) == environment.npos) continue;
      if (environment.find("SLURMD_NODENAME=" + node + '\0') == environment.npos) continue;
      doomed.insert(pid);
      // slurmstepd, which would tell the controller of the end.
      if (const pid_t parent = parent_of(pid); parent > 1 && name_of(parent).starts_with("slurmstepd"))
        doomed.insert(parent);
    }
    for (const pid_t pid : doomed) ::kill(pid, SIGKILL);
    return static_cast<int>(doomed.size());
  }
  void start_node(const std::string& node) const { command({"/usr/sbin/slurmd", "-f", conf_, "-N", node}); }
  // Processes of jobs on a node whose program has this name.
  std::vector<pid_t> job_processes(const std::string& node, const std::string& name) const {
    std::vector<pid_t> found;
    for (const auto& [pid, environment] : processes())
      if (environment.find("SLURM_CONF=" + conf_) != environment.npos &&
          environment.find("SLURMD_NODENAME=" + node + '\0') != environment.npos && name_of(pid) == name)
        found.push_back(pid);
    return found;
  }

 private:
  pid_t pid_in(const std::string& name) const {
    pid_t pid = 0;
    std::ifstream(directory() / "run" / (name + ".pid")) >> pid;
    return pid;
  }
  static void kill_process(pid_t pid) {
    if (pid <= 1) return;
    ::kill(pid, SIGKILL);
    while (::kill(pid, 0) == 0 && !is_zombie(pid)) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  static std::string text_of(const std::string& file) {
    std::ifstream stream(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }
  static bool is_zombie(pid_t pid) {
    return text_of("/proc/" + std::to_string(pid) + "/status").find("State:\tZ") != std::string::npos;
  }
  static std::string name_of(pid_t pid) {
    return split(text_of("/proc/" + std::to_string(pid) + "/comm"), '\n').front();
  }
  static pid_t parent_of(pid_t pid) {
    const std::string status = text_of("/proc/" + std::to_string(pid) + "/status");
    const std::size_t at = status.find("PPid:");
    return at == status.npos ? 0 : std::atoi(status.c_str() + at + 5);
  }
  static std::vector<std::pair<pid_t, std::string>> processes() {
    std::vector<std::pair<pid_t, std::string>> all;
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
      const pid_t pid = std::atoi(entry.path().filename().c_str());
      if (pid > 1 && pid != ::getpid()) all.emplace_back(pid, text_of(entry.path().string() + "/environ") + '\0');
    }
    return all;
  }

  LineProcess process_;
  std::string conf_;
};

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
  explicit ClusterTest(int nodes, int processors = 1) : slurm(nodes, processors) {}
  void SetUp() override {
    if (slurm.missing()) GTEST_SKIP() << slurm.why();
    MNEME_NEEDS_POSTGRES(database);
  }

  std::vector<std::string> environment() const {
    return {"env", "SLURM_CONF=" + slurm.conf(), "MNEME_LEASES=" + database.address(), "MNEME_LEASE=" + lease,
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
  // Polls until it holds; false after so many seconds.
  static bool wait_until(const std::function<bool()>& holds, double seconds) {
    const auto start = std::chrono::steady_clock::now();
    while (!holds()) {
      if (std::chrono::steady_clock::now() - start > std::chrono::duration<double>(seconds)) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
    }
    return true;
  }
  bool queue_empty() const { return slurm.command({"squeue", "-h"}).out.empty(); }
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

  SlurmServer slurm;
  PostgresServer database;
  SampleLab sample;
  store::Lab lab{sample.lab.root()};
  std::string lease = "20s";
};

}  // namespace mneme::testing
