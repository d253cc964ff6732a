// `mneme status` of a lab whose leases are in a database.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "cluster/submission.h"
#include "core/subprocess.h"
#include "report/pages/study_files.h"
#include "store/leases.h"
#include "store/sample_lab.h"
#include "support/places.h"
#include "support/postgres_server.h"

namespace mneme {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class LabStatus : public ::testing::Test {
 protected:
  void SetUp() override {
    MNEME_NEEDS_POSTGRES(server);
    std::filesystem::create_directories(programs);
  }
  ProcessResult status(const std::vector<std::string>& more = {}) const {
    std::vector<std::string> all{"env", "-u", "MNEME_LEASES", "XDG_CONFIG_HOME=" + sample.directory.path().string(),
                                 "PATH=" + programs.string() + ":/usr/bin:/bin"};
    all.insert(all.end(), {binary_directory() + "/mneme", "status", "--lab", sample.lab.root().string()});
    all.insert(all.end(), more.begin(), more.end());
    return run_process(all);
  }
  void squeue(const std::string& lines) const {
    write_file_atomically(programs / "squeue", "#!/bin/sh\nprintf '" + lines + "'\n");
    std::filesystem::permissions(programs / "squeue", std::filesystem::perms::owner_all);
  }

  testing::PostgresServer server;
  testing::SampleLab sample;
  Path programs = sample.directory / "bin";
};

TEST_F(LabStatus, FindsTheDatabaseInTheProfileAndTellsTheRestWhenItIsAway) {
  const store::Lab lab(sample.lab.root(), server.address());
  store::open_leases(lab, {.holder = "a", .seconds = 600})->acquire("f00d", 0);
  write_file_atomically(sample.lab.root() / "slurm.toml", "leases = \"" + server.address() + "\"\n");
  const ProcessResult found = status();
  EXPECT_EQ(found.exit_code, 0) << found.err;
  EXPECT_THAT(found.out, HasSubstr("f00d is being started, attempt 1"));
  server.stop();
  const ProcessResult away = status();
  EXPECT_EQ(away.exit_code, 0) << away.err;
  EXPECT_THAT(away.out, HasSubstr("who runs what is not known: "));
  EXPECT_THAT(away.out, HasSubstr("cannot connect"));
}

TEST_F(LabStatus, AsksSlurmOnceForAllJobsOfTheLab) {
  for (const char* job : {"7", "8", "9"}) {
    cluster::Submission outline;
    outline.job = job;
    outline.study = outline.place = "study";
    cluster::create_submission(sample.lab, outline, std::vector{testing::sample_run()});
  }
  const Path calls = sample.directory / "calls";
  squeue("7_1|RUNNING|n1|1:00|9:00|None\\n9_1|PENDING||0:00|10:00|Priority\\n");
  const std::string script = read_file(programs / "squeue");
  write_file_atomically(programs / "squeue", script + "echo \"$@\" >> " + calls.string() + "\n");
  std::filesystem::permissions(programs / "squeue", std::filesystem::perms::owner_all);
  const ProcessResult result = status();
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("7_1 RUNNING on n1, 9:00 left"));
  EXPECT_THAT(result.out, HasSubstr("no job is left in the queue"));
  EXPECT_THAT(result.out, HasSubstr("9_1 waits: Priority"));
  const std::string asked = read_file(calls);
  EXPECT_EQ(std::count(asked.begin(), asked.end(), '\n'), 1) << asked;
  for (const char* job : {"7", "8", "9"}) EXPECT_THAT(asked, HasSubstr(job));
}

// n1 died: its task waits to be started again, and its file still tells of a worker.
TEST_F(LabStatus, DoesNotCountAWorkerWhoseNodeHasDied) {
  cluster::Submission outline;
  outline.job = "7";
  outline.study = outline.place = "study";
  outline.called = "my/study.toml";
  outline.settings.nodes = 6;
  const cluster::Submission submission =
      cluster::create_submission(sample.lab, outline, std::vector{testing::sample_run()});
  for (const int task : {1, 2})
    write_file_atomically(submission.task_file(task), Json{{"task", task},
                                                           {"node", "n" + std::to_string(task)},
                                                           {"state", "running"},
                                                           {"note", ""},
                                                           {"workers",
                                                            {{{"run", "run" + std::to_string(task)},
                                                              {"mixer", "rnn"},
                                                              {"lr", 1e-3},
                                                              {"seed", 1},
                                                              {"step", 10},
                                                              {"steps", 100},
                                                              {"tokens_per_second", 1e4},
                                                              {"flops_per_second", 1e6}}}}}
                                                          .dump());
  std::string lines = "7_1|PENDING||0:00|10:00|BeginTime\\n7_2|RUNNING|n2|1:00|9:00|None\\n";
  for (const char* task : {"3", "4", "5", "6"}) lines += std::string("7_") + task + "|PENDING||0:00|10:00|None\\n";
  squeue(lines);
  const ProcessResult result = status();
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("7_1 waits: BeginTime"));
  EXPECT_THAT(result.out, HasSubstr("7_3, 7_4, 7_5, 7_6 wait: Slurm has not looked at it yet"));
  EXPECT_THAT(result.out, HasSubstr("7_2 RUNNING on n2, 9:00 left"));
  EXPECT_THAT(result.out, HasSubstr("n2: run run2 rnn"));
  EXPECT_THAT(result.out, Not(HasSubstr("run1")));
  EXPECT_THAT(result.out, HasSubstr("task 1 on n1 lost"));
  // Nothing is in the queue any more: what to type is what was typed.
  squeue("");
  EXPECT_THAT(status().out, HasSubstr("mneme sweep my/study.toml --executor slurm"));
}

// Two variants of one study have jobs: a name with an override means one of them, also by `mneme cancel`.
TEST_F(LabStatus, CancelEndsTheJobsOfOneVariantOrOfAll) {
  int job = 6;
  for (const char* assignment : {"train.steps=30", "train.steps=40"}) {
    const study::Study study = report::open_study("demo", {"smoke", {assignment}});
    cluster::Submission outline;
    outline.job = std::to_string(++job);
    outline.study = outline.place = "demo";
    outline.scale = "smoke";
    outline.overrides = study.overrides;
    outline.called = std::string("demo --scale smoke ") + assignment;
    cluster::create_submission(sample.lab, outline, study.runs);
  }
  const Path calls = sample.directory / "calls";
  write_file_atomically(programs / "scancel", "#!/bin/sh\necho \"$@\" >> " + calls.string() + "\n");
  std::filesystem::permissions(programs / "scancel", std::filesystem::perms::owner_all);
  squeue("7_1|RUNNING|n1|1:00|9:00|None\\n8_1|RUNNING|n2|1:00|9:00|None\\n");
  EXPECT_THAT(status().out, AllOf(HasSubstr("job 7 of demo train.steps=30 at scale smoke"),
                                  HasSubstr("job 8 of demo train.steps=40 at scale smoke")));
  const auto cancel = [&](const std::vector<std::string>& arguments) {
    std::vector<std::string> all{"env",
                                 "-u",
                                 "MNEME_LEASES",
                                 "PATH=" + programs.string() + ":/usr/bin:/bin",
                                 binary_directory() + "/mneme",
                                 "cancel",
                                 "--lab",
                                 sample.lab.root().string()};
    all.insert(all.end(), arguments.begin(), arguments.end());
    std::filesystem::remove(calls);
    const ProcessResult result = run_process(all);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return std::filesystem::exists(calls) ? read_file(calls) : "";
  };
  EXPECT_EQ(cancel({"--study", "demo train.steps=40", "--scale", "smoke", "--jobs"}), "8\n");
  EXPECT_EQ(cancel({"--study", "demo", "--scale", "smoke", "--jobs"}), "") << "nobody trains the plain one";
  EXPECT_EQ(cancel({"--study", "demo train.steps=30", "--scale", "smoke"}), "7\n");
  EXPECT_THAT(cancel({"--study", "demo", "--jobs"}), AllOf(HasSubstr("7\n"), HasSubstr("8\n")));
  std::size_t cancelled = 0;
  for (const config::RunConfig& run : report::open_study("demo", {"smoke", {"train.steps=30"}}).runs)
    cancelled += sample.lab.run(run.id).state() == store::RunState::cancelled ? 1 : 0;
  EXPECT_EQ(cancelled, 4u);
  squeue("");
  EXPECT_THAT(status().out, Not(HasSubstr("job 7 of"))) << "all of its runs were cancelled";
}

}  // namespace
}  // namespace mneme
