#include "serve/lab_jobs.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "cluster/submission.h"
#include "core/files.h"
#include "store/sample_lab.h"

namespace mneme::serve {
namespace {

constexpr const char* kTold = R"({"task": 1, "node": "node-1", "state": "running", "note": "", "changed": "",
  "history": {}, "ended": {"done": 5, "diverged": 2},
  "workers": [{"run": "a", "tokens_per_second": 1000.0}, {"run": "b", "tokens_per_second": 500.5}]})";

cluster::Submission submit(const store::Lab& lab, const std::string& job) {
  cluster::Submission asked;
  asked.study = "recall/fig1";
  asked.scale = "paper";
  asked.place = "fig1";
  cluster::Submission submission = cluster::create_submission(lab, asked, {});
  submission.job = job;
  submission.settings.nodes = 3;
  submission.store();
  return submission;
}

TEST(LabJobsTest, NodesAreAsTheyTell) {
  const testing::SampleLab sample;
  EXPECT_TRUE(jobs_of(sample.lab).empty());
  const cluster::Submission submission = submit(sample.lab, "4711");
  EXPECT_TRUE(jobs_of(sample.lab).empty()) << "nobody has told anything";
  write_file_atomically(submission.task_file(1), kTold);
  write_file_atomically(submission.task_file(2), R"({"task": 2, "node")");
  write_file_atomically(submission.task_file(3), R"({"task": 3, "node": 3, "workers": "none", "ended": []})");
  const Json jobs = jobs_of(sample.lab);
  ASSERT_EQ(jobs.size(), 1U);
  EXPECT_EQ(jobs[0]["job"], "4711");
  EXPECT_EQ(jobs[0]["study"], "recall/fig1");
  EXPECT_FALSE(jobs[0]["cancelled"]);
  ASSERT_EQ(jobs[0]["nodes"].size(), 1U) << "what cannot be read is passed over";
  const Json& node = jobs[0]["nodes"][0];
  EXPECT_EQ(node["node"], "node-1");
  EXPECT_EQ(node["workers"], 2);
  EXPECT_EQ(node["tokens_per_second"], 1500.5);
  EXPECT_EQ(node["ended"], 7);
}

TEST(LabJobsTest, WhatHasLongEndedIsNotShown) {
  const testing::SampleLab sample;
  const cluster::Submission submission = submit(sample.lab, "4711");
  write_file_atomically(submission.task_file(1), kTold);
  const timespec old[2] = {{.tv_sec = 1'700'000'000, .tv_nsec = 0}, {.tv_sec = 1'700'000'000, .tv_nsec = 0}};
  ASSERT_EQ(::utimensat(AT_FDCWD, submission.task_file(1).c_str(), old, 0), 0);
  EXPECT_TRUE(jobs_of(sample.lab).empty());
}

}  // namespace
}  // namespace mneme::serve
