// What a job does on its node, with programs in the place of Slurm's that write down how they are called.
#include "cluster/node_work.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/subprocess.h"
#include "store/sample_lab.h"
#include "support/places.h"

namespace mneme::cluster {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class NodeWork : public ::testing::Test {
 protected:
  NodeWork() {
    std::filesystem::create_directories(programs);
    // A job that Slurm requeues is told to end.
    program("scontrol", "echo \"$@\" >> " + calls.string() + "\n[ \"$1\" != requeue ] || kill -TERM $PPID\n");
    program("squeue", "echo squeue \"$@\" >> " + calls.string() + "\necho 10:00\n");
    Submission outline;
    outline.job = "7";
    outline.study = outline.place = "study";
    outline.settings.nodes = 2;
    submission = create_submission(sample.lab, outline, std::vector{testing::sample_run()});
  }

  void program(const std::string& name, const std::string& text) const {
    write_file_atomically(programs / name, "#!/bin/sh\n" + text);
    std::filesystem::permissions(programs / name, std::filesystem::perms::owner_all);
  }
  // As task `task` of job 7; `id` is what Slurm calls the task's own job.
  ProcessResult node(const std::string& id, const std::string& task, const std::vector<std::string>& more = {}) const {
    std::vector<std::string> all{"env",
                                 "PATH=" + programs.string() + ":/usr/bin:/bin",
                                 "SLURM_JOB_ID=" + id,
                                 "SLURM_ARRAY_JOB_ID=7",
                                 "SLURM_ARRAY_TASK_ID=" + task,
                                 "SLURMD_NODENAME=n" + task};
    all.insert(all.end(), more.begin(), more.end());
    all.insert(all.end(), {binary_directory() + "/mneme", "node", submission.directory.string(), "--lab",
                           sample.lab.root().string()});
    return run_process(all);
  }
  std::vector<std::string> called() const {
    std::vector<std::string> lines;
    std::string text = std::filesystem::exists(calls) ? read_file(calls) : "";
    for (std::size_t start = 0, end; (end = text.find('\n', start)) != text.npos; start = end + 1)
      lines.push_back(text.substr(start, end - start));
    return lines;
  }

  testing::SampleLab sample;
  Path programs = sample.directory / "bin", calls = sample.directory / "calls";
  Submission submission;
};

// The last task of an array has the array's own id, and `scontrol requeue 7` would take its siblings off their nodes.
TEST_F(NodeWork, TheLastTaskOfAnArrayRequeuesItselfAndNotItsSiblings) {
  const ProcessResult result = node("7", "2", {"MNEME_WORKER=/bin/false"});
  EXPECT_EQ(result.exit_code, 0) << result.out << result.err;
  EXPECT_THAT(result.out, HasSubstr("asks Slurm to restart it"));
  EXPECT_THAT(called(), ElementsAre("squeue -h -j 7_2 -o %L", "requeue 7_2", "update JobId=7_2 ExcNodeList=n2"));
}

TEST_F(NodeWork, AnyOtherTaskDoesTheSame) {
  EXPECT_EQ(node("8", "1", {"MNEME_WORKER=/bin/false"}).exit_code, 0);
  EXPECT_THAT(called(), ElementsAre("squeue -h -j 7_1 -o %L", "requeue 7_1", "update JobId=7_1 ExcNodeList=n1"));
}

// A node that was cut off goes on; Slurm has meanwhile started the task on another, which says so in the task's file.
TEST_F(NodeWork, AProcessWhoseTaskWasStartedAgainLeavesItsFileAndItsJobAlone) {
  const std::string later = R"({"history": {"starts": 5, "barren": 0, "broken": 0}, "state": "running"})";
  // The later start appears as soon as this one has looked how many there were.
  program("squeue", "echo '" + later + "' > " + submission.task_file(2).string() + "\necho 10:00\n");
  const ProcessResult result = node("7", "2", {"MNEME_WORKER=/bin/false"});
  EXPECT_THAT(result.out, HasSubstr("a later start of this task has replaced it"));
  EXPECT_THAT(called(), ::testing::IsEmpty());
  EXPECT_EQ(read_file(submission.task_file(2)), later + "\n");
}

TEST_F(NodeWork, ATaskThatFindsWorkEndsWithoutARequeue) {
  program("squeue", "echo squeue \"$@\" >> " + calls.string() + "\necho UNLIMITED\n");
  const ProcessResult result = node("7", "2");
  EXPECT_EQ(result.exit_code, 0) << result.out << result.err;
  EXPECT_THAT(result.out, HasSubstr("leaves: nothing is left to do"));
  EXPECT_THAT(called(), ElementsAre("squeue -h -j 7_2 -o %L"));
}

}  // namespace
}  // namespace mneme::cluster
