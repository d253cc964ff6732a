#include "core/subprocess.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <functional>
#include <memory>
#include <thread>

#include "support/expect_error.h"

namespace mneme {
namespace {

using ::testing::ElementsAre;
using testing::error_of;
using ::testing::HasSubstr;

// Waits up to ten seconds for something that should take a moment.
bool soon(const std::function<bool()>& holds) {
  for (int i = 0; i < 1000; ++i) {
    if (holds()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

LineProcess::Options shell(const std::string& script) { return {.argv = {"sh", "-c", script}, .environment = {}}; }

// Receives until the child is gone.
std::vector<std::string> all_lines(LineProcess& process) {
  std::vector<std::string> lines;
  EXPECT_TRUE(soon([&] {
    for (auto& line : process.receive()) lines.push_back(std::move(line));
    return process.exit_code().has_value();
  }));
  return lines;
}

TEST(RunProcess, PassesInputAndOutputs) {
  const ProcessResult result = run_process({"sh", "-c", "cat; echo trouble >&2; exit 7"}, "hello");
  EXPECT_EQ(result.out, "hello");
  EXPECT_EQ(result.err, "trouble\n");
  EXPECT_EQ(result.exit_code, 7);
}

TEST(RunProcess, DoesNotBlockOnLargeStreams) {
  std::string input;
  for (int i = 0; input.size() < 4'000'000; ++i) input += std::to_string(i) + "\n";
  const ProcessResult result = run_process({"sh", "-c", "tee /dev/stderr"}, input);
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_TRUE(result.out == input) << result.out.size();
  EXPECT_TRUE(result.err == input) << result.err.size();
}

TEST(RunProcess, SurvivesAChildThatDoesNotRead) {
  const ProcessResult result = run_process({"true"}, std::string(1'000'000, 'x'));
  EXPECT_EQ(result.exit_code, 0);
}

TEST(RunProcess, ArgumentsAreNotInterpreted) {
  EXPECT_EQ(run_process({"printf", "%s|", "a b", "$HOME", "'\"*"}).out, "a b|$HOME|'\"*|");
}

TEST(RunProcess, ReportsDeathBySignal) { EXPECT_EQ(run_process({"sh", "-c", "kill -9 $$"}).exit_code, 128 + SIGKILL); }

TEST(RunProcess, MissingProgramIsAnError) {
  EXPECT_EQ(error_of(ErrorKind::io, [] { run_process({"mneme-no-such-program"}); }),
            "[mneme-no-such-program] cannot start: No such file or directory");
}

TEST(RunProcess, WorksWhenOurStandardStreamsAreClosed) {
  // In a child of its own, since closing streams cannot be taken back.
  const pid_t child = ::fork();
  if (child == 0) {
    for (int stream : {0, 1, 2}) ::close(stream);
    const ProcessResult result = run_process({"sh", "-c", "cat; echo err >&2"}, "in");
    ::_exit(result.out == "in" && result.err == "err\n" ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST(ProgramExists, LooksOnThePath) {
  EXPECT_TRUE(program_exists("sh"));
  EXPECT_TRUE(program_exists("/bin/sh"));
  EXPECT_FALSE(program_exists("mneme-no-such-program"));
  EXPECT_FALSE(program_exists("/bin/mneme-no-such-program"));
  EXPECT_FALSE(program_exists("/bin")) << "a directory is no program";
}

TEST(LineProcess, SpeaksLines) {
  LineProcess process(shell("while read line; do echo \"got $line\"; done; echo bye; printf rest"));
  EXPECT_TRUE(process.send("one"));
  EXPECT_TRUE(process.send("two"));
  EXPECT_FALSE(process.exit_code());
  process.close_input();
  EXPECT_FALSE(process.send("three"));
  EXPECT_THAT(all_lines(process), ElementsAre("got one", "got two", "bye"));
  EXPECT_EQ(process.exit_code(), 0);
}

TEST(LineProcess, KeepsAPartialLineUntilItIsWhole) {
  LineProcess process(shell("printf 'ab'; read go; printf 'cd\\nef'; read go; echo"));
  pollfd waiting{process.output_descriptor(), POLLIN, 0};
  ASSERT_EQ(::poll(&waiting, 1, 10'000), 1);
  EXPECT_THAT(process.receive(), ElementsAre());
  process.send("go");
  std::vector<std::string> lines;
  ASSERT_TRUE(soon([&] { return !(lines = process.receive()).empty(); }));
  EXPECT_THAT(lines, ElementsAre("abcd"));
  process.send("go");
  EXPECT_THAT(all_lines(process), ElementsAre("ef"));
}

TEST(LineProcess, ManyLinesArriveWholeAndInOrder) {
  LineProcess process(shell("seq 1 200000"));
  const auto lines = all_lines(process);
  ASSERT_EQ(lines.size(), 200'000U);
  for (std::size_t i = 0; i < lines.size(); ++i) ASSERT_EQ(lines[i], std::to_string(i + 1));
}

TEST(LineProcess, ReceiveReturnsEvenIfTheChildNeverPauses) {
  LineProcess process({.argv = {"yes"}, .environment = {}});
  for (int i = 0; i < 20; ++i) {
    std::size_t bytes = 0;
    for (const auto& line : process.receive()) bytes += line.size() + 1;
    EXPECT_LE(bytes, (2U << 20)) << "one call takes a bounded amount";
  }
}

TEST(LineProcess, ReportsDeathAndLastWords) {
  LineProcess process(shell("echo first; echo 'out of memory' >&2; kill -KILL $$"));
  EXPECT_THAT(all_lines(process), ElementsAre("first"));
  EXPECT_EQ(process.exit_code(), 128 + SIGKILL);
  EXPECT_EQ(process.error_tail(), "out of memory\n");
  EXPECT_FALSE(process.send("more"));
}

TEST(LineProcess, LastWordsAfterTheLastReceiveAreKept) {
  LineProcess process(shell("exec 1>&-; read go; echo boom >&2; exit 3"));
  ASSERT_TRUE(soon([&] {
    process.receive();
    return process.output_descriptor() < 0;
  }));
  process.send("go");
  ASSERT_TRUE(soon([&] { return process.exit_code().has_value(); }));
  EXPECT_EQ(process.exit_code(), 3);
  EXPECT_EQ(process.error_tail(), "boom\n");
}

TEST(LineProcess, KeepsOnlyTheTailOfErrors) {
  LineProcess process(shell("seq 1 20000 >&2"));
  all_lines(process);
  EXPECT_EQ(process.error_tail().size(), 8192U);
  EXPECT_TRUE(process.error_tail().ends_with("19999\n20000\n"));
}

TEST(LineProcess, PassesEnvironmentAndSignals) {
  LineProcess::Options options =
      shell("trap 'echo caught; exit 4' USR1; echo $MNEME_TEST; while :; do sleep 0.01; done");
  options.environment = {"MNEME_TEST=value of ours"};
  LineProcess process(options);
  std::vector<std::string> lines;
  ASSERT_TRUE(soon([&] { return !(lines = process.receive()).empty(); }));
  EXPECT_THAT(lines, ElementsAre("value of ours"));
  EXPECT_EQ(::getpgid(process.pid()), process.pid()) << "a group of its own";
  process.signal(SIGUSR1);
  EXPECT_THAT(all_lines(process), ElementsAre("caught"));
  EXPECT_EQ(process.exit_code(), 4);
}

TEST(LineProcess, MissingProgramIsAnError) {
  EXPECT_THAT(error_of(ErrorKind::io, [] { LineProcess({.argv = {"/no/such/worker"}, .environment = {}}); }),
              HasSubstr("[/no/such/worker] cannot start"));
}

TEST(LineProcess, IsKilledWithItsObject) {
  auto process = std::make_unique<LineProcess>(shell("trap '' TERM; echo ready; while :; do sleep 0.01; done"));
  std::vector<std::string> lines;
  ASSERT_TRUE(soon([&] { return !(lines = process->receive()).empty(); }));
  const pid_t pid = process->pid();
  process.reset();
  EXPECT_EQ(::kill(pid, 0), -1);
  EXPECT_EQ(errno, ESRCH);
}

TEST(LineProcess, DiesWithItsParent) {
  // A parent of our own making starts a child and is killed; the orphan comes to us, so that we see how it ended.
  ASSERT_EQ(::prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const pid_t parent = ::fork();
  if (parent == 0) {
    LineProcess child({.argv = {"sleep", "60"}, .environment = {}});
    const pid_t pid = child.pid();
    [[maybe_unused]] const ssize_t told = ::write(ends[1], &pid, sizeof pid);
    for (;;) ::pause();
  }
  pid_t orphan = 0;
  ASSERT_EQ(::read(ends[0], &orphan, sizeof orphan), static_cast<ssize_t>(sizeof orphan));
  ::kill(parent, SIGKILL);
  ASSERT_EQ(::waitpid(parent, nullptr, 0), parent);
  int status = 0;
  const bool died = soon([&] { return ::waitpid(orphan, &status, WNOHANG) == orphan; });
  if (!died) ::kill(orphan, SIGKILL);
  EXPECT_TRUE(died);
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(WTERMSIG(status), SIGTERM);
  ::close(ends[0]);
  ::close(ends[1]);
  ::prctl(PR_SET_CHILD_SUBREAPER, 0);
}

}  // namespace
}  // namespace mneme
