#include "study/worker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include "core/error.h"
#include "support/places.h"
#include "support/temporary_directory.h"

namespace mneme {
namespace {

using ::testing::HasSubstr;

const Path kWorker = binary_directory() + "/mneme-worker";

TEST(Worker, TheEnvironmentChoosesAndAMissingOneIsNamed) {
  ::setenv("MNEME_WORKER", kWorker.c_str(), 1);
  EXPECT_EQ(find_worker(), kWorker);
  ::setenv("MNEME_WORKER", "/nowhere/mneme-worker", 1);
  try {
    find_worker();
    ADD_FAILURE() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::io);
    EXPECT_THAT(error.what(), HasSubstr("/nowhere/mneme-worker"));
  }
  ::unsetenv("MNEME_WORKER");
}

TEST(Worker, AnExitIsDescribedForAPerson) {
  EXPECT_EQ(describe_exit(3), "ended with exit code 3");
  EXPECT_EQ(describe_exit(128 + 9), "was killed by signal 9 (SIGKILL, out of memory?)");
  EXPECT_EQ(describe_exit(128 + 11), "was killed by signal 11 (SIGSEGV)");
}

TEST(Worker, OnlyEventsAreEvents) {
  EXPECT_EQ(parse_event(R"({"event":"ready"})")["event"], "ready");
  for (const char* line : {"", "hello", "[]", "{}", R"({"event":3})"}) EXPECT_THROW(parse_event(line), Error) << line;
}

TEST(Worker, AnswersARequest) {
  std::vector<std::string> events;
  const std::string file = source_directory() + "/tests/golden/mlp-m1.safetensors";
  ask_worker(kWorker, {{"request", "verify"}, {"files", {file}}}, "finished", [&](const Json& event) {
    events.push_back(event["event"]);
    EXPECT_TRUE(event.value("ok", true)) << event;
  });
  EXPECT_THAT(events, ::testing::ElementsAre("ready", "verified", "finished"));
}

TEST(Worker, AFailedRequestIsTheErrorItDescribes) {
  try {
    ask_worker(kWorker, {{"request", "bench_train"}, {"config", {{"model", {{"mixer", "atention"}}}}}}, "measured",
               [](const Json&) {});
    ADD_FAILURE() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    EXPECT_THAT(error.what(), HasSubstr("did you mean 'attention'"));
  }
}

TEST(Worker, ADeathIsReportedWithItsLastWords) {
  const testing::TemporaryDirectory directory;
  write_file_atomically(directory / "worker", "#!/bin/sh\necho first >&2\necho 'the last word' >&2\nkill -9 $$\n");
  std::filesystem::permissions(directory / "worker", std::filesystem::perms::owner_all);
  try {
    ask_worker(directory / "worker", {{"request", "verify"}}, "finished", [](const Json&) {});
    ADD_FAILURE() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::io);
    EXPECT_THAT(error.what(), HasSubstr("killed by signal 9"));
    EXPECT_THAT(error.what(), HasSubstr("first | the last word"));
  }
}

}  // namespace
}  // namespace mneme
