#include "store/run_writer.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <unistd.h>

#include "store/sample_lab.h"
#include "support/expect_error.h"

namespace mneme::store {
namespace {

using testing::error_of;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::sample_run;
using testing::SampleLab;

class RunWriterTest : public ::testing::Test {
 protected:
  SampleLab sample;
  config::RunConfig run = sample_run();
  RunDirectory directory = sample.lab.run(run.id);

  RunWriter begin(std::int64_t number) const { return RunWriter::begin(directory, run.json(), number, "test"); }
};

// Every way in which a run's directory can be written.
struct Write {
  const char* name;
  std::function<void(const RunWriter&)> action;
};

std::vector<Write> all_writes() {
  return {{"environment",
           [](const RunWriter& w) {
             w.write_environment({{"stale", 1}});
           }},
          {"summary",
           [](const RunWriter& w) {
             w.write_summary({{"stale", 1}});
           }},
          {"traces",
           [](const RunWriter& w) {
             w.write_traces({{"stale", 1}});
           }},
          {"no summary", [](const RunWriter& w) { w.remove_summary(); }},
          {"metric",
           [](const RunWriter& w) {
             w.append_metric({{"stale", 1}});
           }},
          {"metrics", [](const RunWriter& w) { w.replace_metrics({}); }},
          {"deaths", [](const RunWriter& w) { w.set_deaths(99); }},
          {"checkpoint", [](const RunWriter& w) {
             commit_file(w.directory().checkpoint(), "stale",
                         {.gate = w.gate(), .previous = w.directory().previous_checkpoint()});
           }}};
}

// What of these writes changes the directory although a newer attempt has it.
std::vector<std::string> writes_that_go_through(const RunWriter& stale, const RunDirectory& directory) {
  const auto content = [&] {
    std::map<std::string, std::string> files;
    for (const auto& entry : std::filesystem::directory_iterator(directory.path()))
      files[entry.path().filename().string()] = read_file(entry.path());
    return files;
  };
  std::vector<std::string> through;
  for (const Write& write : all_writes()) {
    const auto before = content();
    bool refused = false;
    try {
      write.action(stale);
    } catch (const StaleAttempt&) {
      refused = true;
    }
    if (!refused || content() != before) through.push_back(write.name);
  }
  const auto before = content();
  stale.log("stale");
  if (content() != before) through.push_back("log");
  return through;
}

TEST_F(RunWriterTest, AStaleAttemptCanWriteNothing) {
  const RunWriter stale = begin(1);
  const RunWriter fresh = begin(2);
  fresh.write_summary({{"outcome", "done"}});
  fresh.append_metric({{"step", 1}});
  fresh.log("the newer one");
  EXPECT_THAT(writes_that_go_through(stale, directory), IsEmpty());
  EXPECT_THAT(error_of(ErrorKind::io, [&] { stale.write_summary({}); }),
              HasSubstr("taken over: its newest attempt is 2, ours is 1"));
}

TEST_F(RunWriterTest, WithoutTheFenceTheExaminationFindsStaleWrites) {
  const RunWriter stale = begin(1);
  const RunWriter fresh = begin(2);
  fresh.write_summary({{"outcome", "done"}});
  fresh.append_metric({{"step", 1}});
  // The planted fault: a directory that still names the old attempt is a fence that is not there.
  write_file_atomically(directory.path() / "attempt.json", R"({"attempt": 1, "deaths": 0, "holder": "x"})");
  EXPECT_EQ(writes_that_go_through(stale, directory).size(), all_writes().size() + 1);
}

TEST_F(RunWriterTest, NumbersOnlyRise) {
  { const RunWriter third = begin(3); }
  EXPECT_THROW(begin(3), StaleAttempt);
  EXPECT_THROW(begin(2), StaleAttempt);
  EXPECT_EQ(begin(0).number(), 4);
  EXPECT_NO_THROW(RunWriter::speak_for(directory, 4, "test"));
  EXPECT_THROW(RunWriter::speak_for(directory, 3, "test"), StaleAttempt);
  EXPECT_EQ(directory.attempt().number, 4);
}

TEST_F(RunWriterTest, RunningMeansThatTheAttemptsProcessIsThere) {
  EXPECT_EQ(directory.state(), RunState::fresh);
  {
    const RunWriter writer = begin(1);
    EXPECT_EQ(directory.state(), RunState::running);
    EXPECT_THAT(error_of(ErrorKind::io, [&] { begin(0); }), HasSubstr("another process is training this run"));
    const RunWriter next = begin(2);
    EXPECT_EQ(directory.state(), RunState::running);
  }
  EXPECT_EQ(directory.state(), RunState::fresh);
}

TEST_F(RunWriterTest, WhatCrashedWritersLeftIsSwept) {
  directory.create(run.json());
  write_file_atomically(directory.path() / "summary.json.77-3.tmp", "half");
  write_file_atomically(directory.path() / "alive.1", "");
  const RunWriter writer = begin(2);
  EXPECT_FALSE(std::filesystem::exists(directory.path() / "summary.json.77-3.tmp"));
  EXPECT_FALSE(std::filesystem::exists(directory.path() / "alive.1"));
}

TEST_F(RunWriterTest, AWriterWaitsForTheLockAndSaysWhenItGivesUp) {
  const RunWriter writer = begin(1);
  const int other = ::open((directory.path() / "lock").c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_EQ(::flock(other, LOCK_EX), 0);
  EXPECT_THAT(error_of(ErrorKind::io, [&] { writer.append_metric({}); }), HasSubstr("holds the directory's lock"));
  ::close(other);
  EXPECT_NO_THROW(writer.append_metric({{"step", 1}}));
}

}  // namespace
}  // namespace mneme::store
