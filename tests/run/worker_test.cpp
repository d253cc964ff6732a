#include "run/worker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include "core/error.h"
#include "support/places.h"
#include "support/temporary_directory.h"

namespace mneme::run {
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

// What the worker that is started in this environment says of itself.
std::string blas_of_a_worker() {
  std::string blas;
  ask_worker(kWorker, {{"request", "verify"}, {"files", Json::array()}}, "finished", [&](const Json& event) {
    if (event["event"] == "ready") blas = event["fingerprint"]["blas"];
  });
  return blas;
}

TEST(Worker, HasTheProductsThatFitTheProcessorUnlessSomebodyChose) {
  const char* given = ::getenv("OPENBLAS_CORETYPE");
  const std::string before = given ? given : "";
  ::setenv("OPENBLAS_CORETYPE", "Prescott", 1);
  const std::string chosen = blas_of_a_worker();
  ::unsetenv("OPENBLAS_CORETYPE");
  const std::string own = blas_of_a_worker();
  if (given) ::setenv("OPENBLAS_CORETYPE", before.c_str(), 1);
  if (chosen == "unknown") GTEST_SKIP() << "BLAS is not OpenBLAS";
  EXPECT_EQ(chosen, "Prescott");
#ifdef __x86_64__
  if (!__builtin_cpu_supports("avx2")) GTEST_SKIP() << "an old processor";
#endif
  EXPECT_NE(own, "Prescott");
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
}  // namespace mneme::run
