// A study on a private Slurm of four nodes, to which something happens. Only for slow tests.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "cluster/slurm_cluster.h"
#include "support/slow.h"

namespace mneme::testing {

// Runs of some seconds; "steps" is set by each test.
inline constexpr const char* kTroubleStudy = R"(
title = "Runs of some seconds"
[task]
length = 16
pairs = 2
vocab = 32
[model]
mixer = ["attention", "rnn"]
width = 16
layers = 1
[train]
batch = 8
eval_examples = 16
test_examples = 16
lr = [1e-3, 3e-3]
seed = [1, 2, 3]
)";

class SlurmTrouble : public ClusterTest {
 protected:
  explicit SlurmTrouble(int nodes = 4) : ClusterTest(nodes) { write_file_atomically(study, kTroubleStudy); }

  void SetUp() override {
    MNEME_SLOW_TEST();
    start();
  }
  std::vector<std::string> sweep(const std::vector<std::string>& more = {}) const {
    std::vector<std::string> all{"sweep", study.string(), steps, "--executor", "slurm", "--nodes", "4"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  void submit(const std::vector<std::string>& more = {}) const {
    std::vector<std::string> all = sweep(more);
    all.push_back("--detach");
    const ProcessResult result = mneme(all);
    ASSERT_EQ(result.exit_code, 0) << result.err;
  }
  // Until so many workers train somewhere.
  bool training(std::size_t workers) const {
    return wait_until([&] { return status().value("workers", Json::array()).size() >= workers; });
  }
  // Runs that are under way and have been evaluated.
  std::size_t evaluated() const {
    std::size_t count = 0;
    for (const auto& entry : std::filesystem::directory_iterator(lab.runs())) {
      std::error_code none;
      const auto size = std::filesystem::file_size(entry.path() / "metrics.jsonl", none);
      count += !none && size > 0 && !std::filesystem::exists(entry.path() / "summary.json") ? 1 : 0;
    }
    return count;
  }
  std::size_t ended() const {
    std::size_t count = 0;
    for (const auto& entry : std::filesystem::directory_iterator(lab.runs()))
      count += std::filesystem::exists(entry.path() / "summary.json") ? 1 : 0;
    return count;
  }
  void expect_end() const {
    EXPECT_TRUE(wait_until([&] { return queue_empty(); })) << slurm().command({"squeue"}).out << logs();
  }
  std::string node_of_a_job() const {
    for (const char* node : {"n1", "n2", "n3", "n4"})
      if (!slurm().job_processes(node, "mneme-worker").empty()) return node;
    return "";
  }

  Path study = sample.directory / "study.toml";
  std::string steps = "train.steps=6000";
};

}  // namespace mneme::testing
