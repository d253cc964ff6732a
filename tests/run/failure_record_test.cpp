#include "run/failure_record.h"

#include <gtest/gtest.h>

#include "store/sample_lab.h"

namespace mneme::run {
namespace {

using testing::sample_run;
using testing::sample_summary;
using testing::SampleLab;

TEST(FailureRecord, KeepsTheReasonAndTheLastMetrics) {
  const SampleLab sample;
  const config::RunConfig run = sample_run();
  const store::RunDirectory directory = sample.lab.run(run.id);
  directory.create(run.json());
  store::RunWriter::begin(directory, run.json(), 1, "test")
      .append_metric(
          {{"step", 3}, {"split", "validation"}, {"values", {{"accuracy", 0.25}}}, {"times", {{"seconds", 2.0}}}});
  EXPECT_EQ(record_ending(directory, run.id, 1, {.reason = "the worker was killed"}), "");
  const Json summary = directory.summary().value();
  EXPECT_EQ(summary["outcome"], "failed");
  EXPECT_EQ(summary["reason"], "the worker was killed");
  EXPECT_EQ(summary["values"]["step"], 3);
  EXPECT_EQ(summary["values"]["validation"]["accuracy"], 0.25);
  EXPECT_EQ(summary["times"]["seconds"], 2.0);
  EXPECT_EQ(directory.state(), store::RunState::failed);
}

// `mneme status` showed a failure twice: the worker had logged it, too.
TEST(FailureRecord, LogsNoFailureTwice) {
  const SampleLab sample;
  const config::RunConfig run = sample_run();
  const store::RunDirectory directory = sample.lab.run(run.id);
  directory.create(run.json());
  store::RunWriter::begin(directory, run.json(), 1, "test").log("failed: out of memory");
  EXPECT_EQ(record_ending(directory, run.id, 1, {.reason = "out of memory"}), "");
  EXPECT_EQ(directory.last_log_lines(10).size(), 1u);
  EXPECT_EQ(record_ending(directory, run.id, 1, {.reason = "the worker was killed"}), "");
  EXPECT_EQ(directory.last_log_lines(10).size(), 2u);
}

TEST(FailureRecord, CountsDeaths) {
  const SampleLab sample;
  const config::RunConfig run = sample_run();
  const store::RunDirectory directory = sample.lab.run(run.id);
  directory.create(run.json());
  EXPECT_EQ(record_death(directory, 1, {"it died"}), 1);
  EXPECT_EQ(record_death(directory, 2, {"it died"}), 2);
  { const store::RunWriter next = store::RunWriter::begin(directory, run.json(), 3, "test"); }
  EXPECT_EQ(record_death(directory, 3, {"it died"}), 3);
  EXPECT_EQ(directory.last_log_lines(10).size(), 3u);
}

TEST(FailureRecord, LeavesAnEndedRunAndANewerAttemptAlone) {
  const SampleLab sample;
  const config::RunConfig run = sample_run();
  const store::RunDirectory directory = sample.lab.run(run.id);
  directory.create(run.json());
  {
    const store::RunWriter other = store::RunWriter::begin(directory, run.json(), 2, "test");
    EXPECT_NE(record_ending(directory, run.id, 1, {.reason = "x"}), "");
    EXPECT_FALSE(directory.summary());
  }
  testing::put_summary(directory, run, sample_summary(run, "done", 1, 1));
  EXPECT_EQ(record_ending(directory, run.id, 3, {.reason = "x"}), "");
  EXPECT_EQ(directory.state(), store::RunState::done);
}

TEST(FailureRecord, ADirectoryThatIsAFileIsReported) {
  const SampleLab sample;
  const config::RunConfig run = sample_run();
  write_file_atomically(sample.lab.run(run.id).path(), "a file");
  EXPECT_NE(record_ending(sample.lab.run(run.id), run.id, 1, {.reason = "x"}), "");
}

}  // namespace
}  // namespace mneme::run
