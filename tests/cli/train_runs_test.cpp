#include "cli/train_runs.h"

#include <gtest/gtest.h>

#include "core/error.h"

namespace mneme::cli {
namespace {

run::RunResult ended(store::RunState state, ErrorKind kind = ErrorKind::runs_failed) {
  return {.state = state, .reason = "", .kind = kind, .summary = {}};
}

TEST(TrainRuns, JobsAreChecked) {
  EXPECT_EQ(checked_jobs(3, true), 3);
  EXPECT_GE(checked_jobs(0, false), 1);
  for (const std::int64_t jobs : {0, -1, 5000}) EXPECT_THROW(checked_jobs(jobs, true), Error) << jobs;
}

TEST(TrainRuns, FilesAndAssignmentsAreToldApart) {
  const FileAndOverrides sorted = sort_arguments({"a.b=1", "run.toml", "c=2"});
  EXPECT_EQ(sorted.file, "run.toml");
  EXPECT_EQ(sorted.overrides, (std::vector<std::string>{"a.b=1", "c=2"}));
  EXPECT_THROW(sort_arguments({"a", "b"}), Error);
}

TEST(TrainRuns, ExitCodes) {
  EXPECT_EQ(exit_code_of({{ended(store::RunState::done), ended(store::RunState::diverged)}, false, "", ""}), 0);
  EXPECT_EQ(exit_code_of({{ended(store::RunState::failed, ErrorKind::io)}, false, "", ""}), 4);
  EXPECT_EQ(
      exit_code_of({{ended(store::RunState::done), ended(store::RunState::failed, ErrorKind::io)}, false, "", ""}), 5);
  EXPECT_EQ(exit_code_of({{ended(store::RunState::failed)}, true, "", ""}), 130);
  EXPECT_EQ(exit_code_of({{ended(store::RunState::done), ended(store::RunState::fresh)}, false, "No space left", ""}),
            4);
}

}  // namespace
}  // namespace mneme::cli
