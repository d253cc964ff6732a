// A private Slurm for a test (slurm_lab.sh), gone at the end, also if the test crashes.
#pragma once

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "core/files.h"
#include "core/subprocess.h"
#include "core/text.h"
#include "support/places.h"

namespace mneme::testing {

class SlurmServer {
 public:
  explicit SlurmServer(int nodes)
      : process_({.argv = {"bash", source_directory() + "/tests/cluster/slurm_lab.sh", std::to_string(nodes)},
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
  // Until the controller has written its jobs down since now: it does so a few seconds after a change. One that dies
  // before comes back without knowing that a job has started, starts it twice and drains the node.
  void await_saved_jobs() const {
    const auto begin = std::filesystem::file_time_type::clock::now();
    for (int i = 0; i < 1500; ++i) {
      std::error_code none;
      const auto saved = std::filesystem::last_write_time(directory() / "state" / "job_state", none);
      if (!none && saved >= begin) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  }
  // The controller dies at once and is started again after a while.
  void kill_controller(std::chrono::milliseconds pause) const {
    kill_process(pid_in("slurmctld"));
    std::this_thread::sleep_for(pause);
    command({"/usr/sbin/slurmctld", "-f", conf_});
  }
  // As if its power had failed: slurmd, what it started and every process of its jobs. Returns how many processes.
  int kill_node(const std::string& node) const {
    const std::vector<pid_t> doomed = job_processes(node);
    cut_off(node);
    for (const pid_t pid : doomed) ::kill(pid, SIGKILL);
    return static_cast<int>(doomed.size());
  }
  // As if its network had failed: the processes of its jobs live on, and Slurm knows nothing of them.
  void cut_off(const std::string& node) const {
    kill_process(pid_in("slurmd-" + node));
    // slurmstepd, which would tell the controller of the end.
    for (const pid_t pid : job_processes(node))
      if (const pid_t parent = parent_of(pid); parent > 1 && name_of(parent).starts_with("slurmstepd"))
        kill_process(parent);
  }
  // Processes of jobs on a node whose program has this name; "" for all.
  std::vector<pid_t> job_processes(const std::string& node, const std::string& name = "") const {
    std::vector<pid_t> found;
    for (const auto& [pid, environment] : processes())
      if (environment.find("SLURM_CONF=" + conf_) != environment.npos &&
          environment.find("SLURMD_NODENAME=" + node + '\0') != environment.npos &&
          (name.empty() || name_of(pid) == name))
        found.push_back(pid);
    return found;
  }
  static bool is_gone(pid_t pid) { return ::kill(pid, 0) != 0 || is_zombie(pid); }

 private:
  pid_t pid_in(const std::string& name) const {
    pid_t pid = 0;
    std::ifstream(directory() / "run" / (name + ".pid")) >> pid;
    return pid;
  }
  static void kill_process(pid_t pid) {
    if (pid <= 1) return;
    ::kill(pid, SIGKILL);
    while (!is_gone(pid)) std::this_thread::sleep_for(std::chrono::milliseconds(5));
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

}  // namespace mneme::testing
