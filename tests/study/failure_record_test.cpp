#include "study/failure_record.h"

#include <gtest/gtest.h>

#include "store/sample_lab.h"

namespace mneme {
namespace {

using testing::sample_run;
using testing::sample_summary;
using testing::SampleLab;

TEST(FailureRecord, KeepsTheReasonAndTheLastMetrics) {
  const SampleLab sample;
  const RunConfig run = sample_run();
  const RunDirectory directory = sample.lab.run(run.id);
  directory.create(run.json);
  directory.append_metric(
      {{"step", 3}, {"split", "validation"}, {"values", {{"accuracy", 0.25}}}, {"times", {{"seconds", 2.0}}}});
  EXPECT_EQ(record_failure(directory, run, "the worker was killed"), "");
  const Json summary = directory.summary().value();
  EXPECT_EQ(summary["outcome"], "failed");
  EXPECT_EQ(summary["reason"], "the worker was killed");
  EXPECT_EQ(summary["values"]["step"], 3);
  EXPECT_EQ(summary["values"]["validation"]["accuracy"], 0.25);
  EXPECT_EQ(summary["times"]["seconds"], 2.0);
  EXPECT_EQ(directory.state(), RunState::failed);
}

TEST(FailureRecord, LeavesAnEndedRunAndALockedOneAlone) {
  const SampleLab sample;
  const RunConfig run = sample_run();
  const RunDirectory directory = sample.lab.run(run.id);
  directory.create(run.json);
  {
    const auto lock = directory.lock();
    EXPECT_NE(record_failure(directory, run, "x"), "");
    EXPECT_FALSE(directory.summary());
  }
  directory.write_summary(sample_summary(run, "done", 1, 1));
  EXPECT_EQ(record_failure(directory, run, "x"), "");
  EXPECT_EQ(directory.state(), RunState::done);
}

TEST(FailureRecord, ADirectoryThatIsAFileIsReported) {
  const SampleLab sample;
  const RunConfig run = sample_run();
  write_file_atomically(sample.lab.run(run.id).path(), "a file");
  EXPECT_NE(record_failure(sample.lab.run(run.id), run, "x"), "");
}

}  // namespace
}  // namespace mneme
