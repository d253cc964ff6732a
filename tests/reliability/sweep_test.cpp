// Whole sweeps through whatever happens to their processes, with the real programs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <set>
#include <thread>

#include "core/random.h"
#include "core/subprocess.h"
#include "store/index.h"
#include "store/sample_lab.h"
#include "support/places.h"
#include "support/postgres_server.h"
#include "support/slow.h"
#include "support/worker_process.h"

namespace mneme {
namespace {

using ::testing::HasSubstr;
using testing::SampleLab;

const std::string kMneme = binary_directory() + "/mneme";

// Eight short runs that differ in rate, seed and length of training.
constexpr const char* kStudy = R"(
[task]
length = 8
pairs = 1
vocab = 16
[model]
mixer = ["attention", "rnn"]
width = 8
layers = 1
[train]
batch = 4
steps = 300
eval_examples = 8
test_examples = 8
lr = [1e-3, 1e6]
seed = [1, 2]
)";

class Sweeps : public ::testing::Test {
 protected:
  Sweeps() { write_file_atomically(study, kStudy); }

  std::vector<std::string> arguments(const store::Lab& lab, const std::vector<std::string>& more = {}) const {
    std::vector<std::string> all{kMneme, "sweep", study.string(), "--lab", lab.root().string(), "--json"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  // What the lab says about the study, without anything that depends on time.
  std::string table(const store::Lab& lab) const {
    Json rows = Json::array();
    for (const store::RunRecord& record : store::Index::open(lab).query()) {
      const Json summary = record.summary.empty() ? Json::object() : parse_json(record.summary, record.id);
      Json metrics = Json::array();
      for (const Json& metric : lab.run(record.id).metrics()) metrics.push_back({metric["step"], metric["values"]});
      rows.push_back(
          {record.id, store::run_state_name(record.state), record.reason, summary.value("values", Json()), metrics});
    }
    return rows.dump();
  }

  SampleLab sample;
  Path study = sample.directory / "study.toml";
};

std::vector<pid_t> children_of(pid_t parent) {
  std::ifstream file("/proc/" + std::to_string(parent) + "/task/" + std::to_string(parent) + "/children");
  std::vector<pid_t> children;
  for (pid_t child; file >> child;) children.push_back(child);
  return children;
}

TEST_F(Sweeps, OneTwoAndEightWorkersGiveTheSameTable) {
  std::set<std::string> tables;
  for (const char* jobs : {"1", "2", "8"}) {
    const SampleLab other;
    const ProcessResult result = run_process(arguments(other.lab, {"--jobs", jobs}));
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_EQ(parse_json(result.out, "sweep")["runs"].size(), 8u);
    tables.insert(table(other.lab));
  }
  EXPECT_EQ(tables.size(), 1u);
}

// Starts two sweeps of the same study at once and counts what each of them trained.
void expect_shared_work(const std::vector<std::string>& sweep) {
  std::vector<std::unique_ptr<LineProcess>> commands;
  for (int i = 0; i < 2; ++i)
    commands.push_back(
        std::make_unique<LineProcess>(LineProcess::Options{.argv = sweep, .environment = {}, .own_group = true}));
  std::size_t trained = 0;
  for (auto& command : commands) {
    std::string out;
    while (!command->exit_code()) {
      for (const std::string& line : command->receive()) out += line;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    EXPECT_EQ(command->exit_code(), 0) << command->error_tail();
    const Json document = parse_json(out, "sweep");
    std::size_t here = 0;
    for (const Json& run : document["runs"]) {
      EXPECT_TRUE(run["state"] == "done" || run["state"] == "diverged");
      here += run["already"].get<bool>() ? 0 : 1;
    }
    std::printf("%zu runs trained by one of them\n", here);
    trained += here;
  }
  EXPECT_EQ(trained, 8u) << "a run was trained twice or not at all";
}

TEST_F(Sweeps, TwoCommandsShareTheWork) {
  expect_shared_work(arguments(sample.lab, {"--jobs", "1", "train.steps=1500"}));
}

TEST_F(Sweeps, TwoCommandsShareTheWorkThroughADatabase) {
  testing::PostgresServer server;
  MNEME_NEEDS_POSTGRES(server);
  expect_shared_work(arguments(sample.lab, {"--jobs", "1", "train.steps=1500", "--leases", server.address()}));
  EXPECT_FALSE(std::filesystem::exists(sample.lab.leases()));
  const ProcessResult without = run_process(arguments(sample.lab));
  EXPECT_EQ(without.exit_code, 2) << "it would not see the others' leases";
  EXPECT_THAT(without.err, HasSubstr("MNEME_LEASES"));
}

// Kills the command, or one of its workers, at random instants until a sweep ends by itself.
void torment(const store::Lab& lab, const std::vector<std::string>& sweep, std::uint64_t number, int kills,
             int& commands, int& workers) {
  Random random(stream_key(13, "sweeps"), number);
  for (int round = 0; round < kills; ++round) {
    LineProcess command({.argv = sweep, .environment = {}, .own_group = true});
    std::this_thread::sleep_for(std::chrono::milliseconds(300 + random.below(1200)));
    const auto children = children_of(command.pid());
    // A worker is killed once: killing is the run's fault only if it happens again and again.
    if (round % 3 == 2 && !children.empty()) {
      ::kill(children[random.below(static_cast<std::uint32_t>(children.size()))], SIGKILL);
      ++workers;
    } else {
      command.signal(round % 3 == 0 ? SIGKILL : SIGTERM);
      ++commands;
    }
    while (!command.exit_code()) {
      command.receive();
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  }
  const ProcessResult last = run_process(sweep);
  EXPECT_EQ(last.exit_code, 0) << last.err;
  const auto runs = store::Index::open(lab).query();
  EXPECT_EQ(runs.size(), 8u);
  for (const store::RunRecord& run : runs)
    EXPECT_TRUE(run.ended()) << run.id << " " << store::run_state_name(run.state);
}

TEST_F(Sweeps, EndInOneTableWhateverIsKilled) {
  const SampleLab calm;
  ASSERT_EQ(run_process(arguments(calm.lab)).exit_code, 0);
  int commands = 0, workers = 0;
  torment(sample.lab, arguments(sample.lab, {"--jobs", "2", "train.steps=300"}), 0, 4, commands, workers);
  EXPECT_EQ(table(sample.lab), table(calm.lab));
  std::printf("%d commands and %d workers killed\n", commands, workers);
}

TEST_F(Sweeps, SlowEndInOneTableWhateverIsKilled) {
  MNEME_SLOW_TEST();
  const SampleLab calm;
  ASSERT_EQ(run_process(arguments(calm.lab)).exit_code, 0);
  int commands = 0, workers = 0;
  const int sweeps = testing::slow_count(20);
  for (int number = 1; number <= sweeps; ++number) {
    const SampleLab other;
    torment(other.lab, arguments(other.lab, {"--jobs", "2"}), static_cast<std::uint64_t>(number), 5, commands, workers);
    ASSERT_EQ(table(other.lab), table(calm.lab)) << number;
  }
  std::printf("%d commands and %d workers killed in %d sweeps, each with the table of an undisturbed one\n", commands,
              workers, sweeps);
}

TEST_F(Sweeps, ARunThatGetsNoMemoryFailsWithThatReasonAndTheOthersGoOn) {
  write_file_atomically(study, std::string(kStudy) +
                                   "[[include]]\nmodel = { width = 16384, mixer = \"attention\" }\n"
                                   "train = { lr = 1e-3, seed = 1, steps = 1 }\n");
  // Enough address space for libtorch and the small runs, not for a model of this width.
  std::vector<std::string> limited{"prlimit", "--as=3000000000"};
  for (const std::string& argument : arguments(sample.lab, {"--jobs", "1"})) limited.push_back(argument);
  const ProcessResult result = run_process(limited);
  EXPECT_EQ(result.exit_code, 5) << result.err;
  int failed = 0;
  const Json document = parse_json(result.out, "sweep");
  for (const Json& run : document["runs"]) {
    if (run["state"] != "failed") continue;
    ++failed;
    EXPECT_THAT(run["reason"].get<std::string>(), HasSubstr("out of memory"));
    EXPECT_EQ(run["config"]["model"]["width"], 16384);
  }
  EXPECT_EQ(failed, 1);
  EXPECT_EQ(store::Index::open(sample.lab).count({store::parse_run_filter("state=failed")}), 1);
  const ProcessResult status = run_process({kMneme, "status", "--lab", sample.lab.root().string()});
  EXPECT_THAT(status.out, HasSubstr("out of memory"));
  EXPECT_THAT(status.out, ::testing::Not(HasSubstr("frame #"))) << "addresses are for nobody";
}

TEST_F(Sweeps, ARunThatGetsNoMemoryIsNoDefectOfMneme) {
  const ProcessResult result =
      run_process({"prlimit", "--as=3000000000", kMneme, "train", "--lab", sample.lab.root().string(),
                   "model.width=16384", "model.layers=1", "task.length=8", "task.pairs=1", "train.steps=1"});
  EXPECT_EQ(result.exit_code, 5) << result.err << result.out;
}

TEST_F(Sweeps, AStoppedSweepCountsWhatTheOtherOneEnded) {
  // The other one trains everything while this one waits for it with a single run of its own that never ends.
  std::vector<std::string> all = arguments(sample.lab, {"--jobs", "1"});
  std::vector<std::string> with_long = all;
  with_long.push_back("train.steps=[300, 3000000]");
  with_long.push_back("train.seed=1");
  with_long.push_back("model.mixer=rnn");
  with_long.push_back("train.lr=1e-3");
  std::vector<std::string> short_ones = with_long;
  short_ones[short_ones.size() - 4] = "train.steps=300";
  LineProcess stopped({.argv = with_long, .environment = {}, .own_group = true});
  while (children_of(stopped.pid()).empty()) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  ASSERT_EQ(run_process(short_ones).exit_code, 0);
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  stopped.signal(SIGTERM);
  std::string out;
  while (!stopped.exit_code()) {
    for (const std::string& line : stopped.receive()) out += line;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  const Json document = parse_json(out, "sweep");
  std::multiset<std::string> states;
  for (const Json& run : document["runs"]) states.insert(run["state"].get<std::string>());
  EXPECT_EQ(states, (std::multiset<std::string>{"done", "interrupted"})) << out;
}

TEST_F(Sweeps, AFullDiskStopsLeasingAndLosesNothing) {
  if (run_process({"unshare", "-Urm", "true"}).exit_code != 0)
    GTEST_SKIP() << "no user namespaces here: cannot make a small disk";
  const Path disk = sample.directory / "disk";
  std::filesystem::create_directories(disk);
  // A disk with room for some of the runs; then more room, and the same command again.
  const char* script =
      "mount -t tmpfs -o size=700k tmpfs \"$0\" || exit 99\n"
      "\"$1\" sweep \"$2\" --lab \"$0/lab\" model.width=32 --jobs 2 --json > \"$3/first\" 2> \"$3/first.err\"; echo $? "
      "> \"$3/first.code\"\n"
      // A run that failed for want of room may have been able to say so; that is no result, and is tried again.
      "grep -lE '\"outcome\": ?\"(done|diverged)\"' \"$0\"/lab/runs/*/summary.json | xargs sha256sum > "
      "\"$3/acknowledged\"\n"
      "mount -o remount,size=20m \"$0\"\n"
      "\"$1\" sweep \"$2\" --lab \"$0/lab\" model.width=32 --jobs 2 --json > \"$3/second\" 2> \"$3/second.err\"; echo "
      "$? > \"$3/second.code\"\n"
      "sha256sum --quiet -c \"$3/acknowledged\"; echo $? > \"$3/kept\"\n";
  const ProcessResult result = run_process(
      {"unshare", "-Urm", "sh", "-c", script, disk.string(), kMneme, study.string(), sample.directory.path().string()});
  if (result.exit_code == 99) GTEST_SKIP() << "cannot mount a small disk here";
  const auto written = [&](const char* name) { return read_file(sample.directory / name); };
  EXPECT_EQ(written("first.code"), "4\n") << written("first.err");
  EXPECT_NE((written("first") + written("first.err")).find("No space left on device"), std::string::npos);
  EXPECT_EQ(written("second.code"), "0\n") << written("second.err");
  EXPECT_EQ(written("kept"), "0\n") << "a finished run was changed";
  const Json document = parse_json(written("second"), "sweep");
  for (const Json& run : document["runs"])
    EXPECT_TRUE(run["state"] == "done" || run["state"] == "diverged") << run.dump();
  const std::string acknowledged = written("acknowledged");
  std::printf("%ld runs had ended before the disk was full\n",
              static_cast<long>(std::count(acknowledged.begin(), acknowledged.end(), '\n')));
}

TEST_F(Sweeps, DivergenceIsAnOutcomeWithItsStepAndEntersNoFailure) {
  write_file_atomically(study, std::string(kStudy) + "eps = 1e-30\nweight_decay = 1000.0\nwarmup = 0.0\n");
  const ProcessResult result = run_process(arguments(sample.lab));
  EXPECT_EQ(result.exit_code, 0) << result.err;
  int diverged = 0;
  const Json document = parse_json(result.out, "sweep");
  for (const Json& run : document["runs"]) {
    if (run["state"] != "diverged") continue;
    ++diverged;
    const Json& values = run["summary"]["values"];
    EXPECT_LT(values["step"], 300);
    EXPECT_FALSE(values.contains("test"));
    if (values.contains("validation")) {
      EXPECT_TRUE(values["validation"]["loss"].is_number());
    }
  }
  EXPECT_GT(diverged, 0);
}

}  // namespace
}  // namespace mneme
