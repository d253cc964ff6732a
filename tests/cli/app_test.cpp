// The real programs, from arguments to exit code.
#include "cli/app.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>

#include <chrono>
#include <fstream>
#include <thread>

#include "cli/command.h"
#include "core/error.h"
#include "core/safetensors.h"
#include "core/subprocess.h"
#include "store/sample_lab.h"

namespace mneme {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using testing::SampleLab;
using ::testing::StartsWith;

const std::vector<std::string> kTiny = {"task.length=8",         "task.pairs=1",          "task.vocab=16",
                                        "model.width=8",         "model.layers=1",        "train.batch=4",
                                        "train.eval_examples=8", "train.test_examples=8", "train.steps=5"};

std::vector<std::string> joined(std::vector<std::string> first, const std::vector<std::string>& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

class App : public ::testing::Test {
 protected:
  ProcessResult mneme(const std::vector<std::string>& arguments) const {
    return run_process(
        joined({"env", "MNEME_LAB=" + sample.lab.root().string(), MNEME_BINARY_DIR "/mneme"}, arguments));
  }
  Json json(std::vector<std::string> arguments) const {
    arguments.push_back("--json");
    const ProcessResult result = mneme(arguments);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return parse_json(result.out, "output");
  }

  SampleLab sample;
};

TEST_F(App, WithoutArgumentsSaysWhatToTryFirst) {
  const ProcessResult result = mneme({});
  EXPECT_EQ(result.exit_code, 0);
  for (const char* command : {"mneme demo", "mneme train", "mneme list"}) EXPECT_THAT(result.out, HasSubstr(command));
}

TEST_F(App, EveryCommandHasHelpWithAnExample) {
  const ProcessResult all = mneme({"--help"});
  for (const Command& command : command_list()) {
    EXPECT_THAT(all.out, HasSubstr(command.name));
    const ProcessResult result = mneme({command.name, "--help"});
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_THAT(result.out, HasSubstr(std::string("Examples:\n  mneme ") + command.name));
    EXPECT_THAT(result.out, HasSubstr("--json"));
    EXPECT_THAT(result.out, HasSubstr("--lab"));
  }
  EXPECT_EQ(mneme({"--version"}).out, "mneme " MNEME_VERSION "\n");
}

struct BadInput {
  std::vector<std::string> arguments;
  int exit_code;
  std::string message;
};

TEST_F(App, BadInputIsOneLineWithAnExitCode) {
  const std::string file = sample.directory / "file";
  write_file_atomically(file, "a = [");
  const std::vector<BadInput> cases = {
      {{"trian"}, 2, "unknown command 'trian', did you mean 'train'?"},
      {{"runs", "--limt", "3"}, 2, "[runs] unknown option --limt, did you mean '--limit'?"},
      {{"train", "model.mixer=atention"}, 2, "unknown mixer 'atention', did you mean 'attention'?"},
      {{"train", "train.lrr=1"}, 2, "unknown key 'lrr', did you mean 'lr'?"},
      {{"train", "trian.lr=1"}, 2, "unknown table 'trian', did you mean 'train'?"},
      {{"train", "task.length=16", "task.pairs=5"}, 2, "task.pairs: got 5, expected at most length / 4 = 4"},
      {{"train", "task.length=33"}, 2, "task.length: got 33"},
      {{"train", "task.length=64", "task.vocab=64"}, 2, "task.vocab: got 64, expected more than length = 64"},
      {{"train", "train.lr=fast"}, 2, "train.lr: got \"fast\", expected a number"},
      {{"train", "train.lr=[1e-3, 1e-2]"}, 2, "train.lr: got [0.001,0.01], expected a number"},
      {{"train", "/nowhere/run.toml"}, 3, "[/nowhere/run.toml] cannot open"},
      {{"train", file}, 2, "not valid TOML"},
      {{"train", "a", "b"}, 2, "expected one file"},
      {{"sweep", "dmeo"}, 2, "unknown study 'dmeo', did you mean 'demo'?"},
      {{"sweep"}, 2, "required"},
      {{"sweep", "demo", "--jobs", "0"}, 2, "[--jobs] got 0"},
      {{"sweep", "demo", "--jobs", "two"}, 2, "--jobs"},
      {{"sweep", "demo", "--scale", "smok"}, 2, "unknown scale 'smok', did you mean 'smoke'?"},
      {{"sweep", "demo", "train.seed=[]"}, 2, "train.seed: an empty list"},
      {{"show", "0123"}, 2, "no run starts with '0123'"},
      {{"show", ""}, 2, "no run starts with ''"},
      {{"show", "mixer", "mambo"}, 2, "unknown mixer 'mambo'"},
      {{"show", "task", "mqra"}, 2, "unknown task 'mqra', did you mean 'mqar'?"},
      {{"list", "mixrs"}, 2, "did you mean 'mixers'?"},
      {{"runs", "mixre=attention"}, 2, "unknown key 'mixre', did you mean 'mixer'?"},
      {{"runs", "--sort", "lrr"}, 2, "unknown key 'lrr'"},
      {{"runs", "--limit", "-1"}, 2, "[--limit]"},
      {{"runs", "--lab", file}, 4, "is a file, expected a directory"},
      {{"runs", "--lab", "/nowhere/lab"}, 3, "is not a lab"},
      {{"report", "demo"}, 3, "mneme sweep demo"},
      {{"report", "--scale", "smoke"}, 2, "needs a study"},
      {{"verify"}, 2, "files"},
      {{"verify", "/nowhere/case"}, 3, "[/nowhere/case] cannot open"},
      {{"verify", "/tmp"}, 3, "is a directory"},
      {{"verify", file, "--tolerance", "0"}, 2, "[--tolerance]"},
      {{"bench", "--seconds", "0"}, 2, "[--seconds]"},
      {{"bench", "mixer"}, 2, "mixer"},
      {{"bench", "mixer", "mamab"}, 2, "unknown mixer 'mamab', did you mean 'mamba'?"},
      {{"bench", "mixer", "mamba", "d_stat=4"}, 2, "unknown key 'd_stat', did you mean 'd_state'?"},
      {{"bench", "mixer", "attention", "num_heads=3"}, 2, "num_heads"},
      {{"bench", "mixer", "rnn", "--lengths", "8,8"}, 2, "[--lengths] got 8 twice"},
      {{"bench", "mixer", "rnn", "--batch", "0"}, 2, "[--batch]"},
      {{"sample", "mqra"}, 2, "did you mean 'mqar'?"},
      {{"sweep", "demo", "--max-time", "soon"}, 2, "[--max-time] got 'soon', expected a time like 90s"},
      {{"sweep", "demo", "--max-runs", "-1"}, 2, "[--max-runs]"},
      {{"plan", "dmeo"}, 2, "did you mean 'demo'?"},
      {{"plan", "demo", "--nodes", "0"}, 2, "[--nodes]"},
      {{"export", "--format", "cvs"}, 2, "did you mean 'csv'?"},
      {{"export", "--format", "tensorboard"}, 2, "expected a directory"},
      {{"diff", "0123", "4567"}, 2, "no run starts with '0123'"},
      {{"retry"}, 2, "got no run, expected some"},
      {{"cancel", "state=runing", "lrr=3"}, 2, "unknown key 'lrr'"},
      {{"window", "--low", "1", "--high", "0.1"}, 2, "expected two rates in ascending order"},
      {{"window", "--rates", "1"}, 2, "[--rates]"},
      {{"window", "train.batch=[1, 2]", "--rates", "4"}, 2, "other axes"},
  };
  for (const BadInput& bad : cases) {
    const ProcessResult result = mneme(bad.arguments);
    const std::string what = ::testing::PrintToString(bad.arguments);
    EXPECT_EQ(result.exit_code, bad.exit_code) << what << result.err;
    EXPECT_THAT(result.err, StartsWith("mneme: error: ")) << what;
    EXPECT_THAT(result.err, HasSubstr(bad.message)) << what;
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << what << result.err;
    EXPECT_THAT(result.out, IsEmpty()) << what;

    const ProcessResult machine = mneme(joined(bad.arguments, {"--json"}));
    EXPECT_EQ(machine.exit_code, bad.exit_code) << what;
    EXPECT_THAT(machine.out, IsEmpty()) << what;
    const Json error = parse_json(machine.err, what);
    EXPECT_EQ(error["error"]["code"], bad.exit_code) << what;
    EXPECT_THAT(error["error"]["message"].get<std::string>(), HasSubstr(bad.message)) << what;
  }
}

TEST_F(App, AMissingWorkerIsNamed) {
  const ProcessResult result =
      run_process(joined({"env", "MNEME_WORKER=/nowhere/worker", MNEME_BINARY_DIR "/mneme", "train"}, kTiny));
  EXPECT_EQ(result.exit_code, 4);
  EXPECT_THAT(result.err, HasSubstr("/nowhere/worker"));
}

TEST_F(App, PrintConfigShowsTheIdAndTrainsNothing) {
  const Json document = json(joined({"train", "--print-config"}, kTiny));
  EXPECT_EQ(document["id"], testing::sample_run().id);
  EXPECT_EQ(document["config"]["task"]["length"], 8);
  EXPECT_THAT(mneme(joined({"train", "--print-config"}, kTiny)).out, HasSubstr(testing::sample_run().id));
  EXPECT_TRUE(std::filesystem::is_empty(sample.lab.runs()));
}

TEST_F(App, AModelThatCannotWorkIsWarnedAbout) {
  const ProcessResult result = mneme(joined(joined({"train", "--print-config"}, kTiny), {"model.positions=none"}));
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.err, StartsWith("mneme: warning: "));
  EXPECT_THAT(result.err, HasSubstr("position"));
}

TEST_F(App, ARunIsTrainedShownAndNotTrainedAgain) {
  const ProcessResult first = mneme(joined({"train"}, kTiny));
  ASSERT_EQ(first.exit_code, 0) << first.err;
  const std::string id = testing::sample_run().id;
  EXPECT_THAT(first.out, HasSubstr("run " + id + ": done (budget) after 5 steps"));
  EXPECT_THAT(first.err, Not(HasSubstr("\x1b")));

  const Json again = json(joined({"train"}, kTiny));
  EXPECT_EQ(again["already"], true);
  EXPECT_EQ(again["state"], "done");
  EXPECT_EQ(again["summary"]["values"]["step"], 5);
  EXPECT_THAT(mneme(joined({"train"}, kTiny)).out, HasSubstr("already ended"));

  EXPECT_EQ(json({"runs"})["runs"][0]["id"], id);
  EXPECT_EQ(json({"runs", "lr>1"})["runs"].size(), 0u);
  EXPECT_THAT(mneme({"runs"}).out, HasSubstr(id));
  const Json shown = json({"show", id.substr(0, 5)});
  EXPECT_EQ(shown["id"], id);
  EXPECT_EQ(shown["metrics"].size(), 5u);
  EXPECT_THAT(mneme({"show", id}).out, HasSubstr("validation accuracy\n"));
}

TEST_F(App, WhatATrainedModelWasTestedOnIsShown) {
  const ProcessResult trained = mneme({"train", "task.name=counting", "task.length=40", "task.isi=3", "task.iti=[4,6]",
                                       "model.mixer=gru", "model.width=4", "model.layers=1", "train.batch=4",
                                       "train.eval_examples=8", "train.test_examples=8", "train.steps=2",
                                       "test.along=length", "test.values=[40,80]", "test.examples=8", "test.phases=true",
                                       "test.traces=1"});
  ASSERT_EQ(trained.exit_code, 0) << trained.err;
  const std::string id = json({"runs"})["runs"][0]["id"];
  const Json traces = parse_json(read_file(sample.lab.run(id).path() / "traces.json"), "traces");
  EXPECT_EQ(traces["signals"].size(), 4u);
  const std::string shown = mneme({"show", id}).out;
  EXPECT_THAT(shown, HasSubstr("generalisation\n"));
  EXPECT_THAT(shown, ::testing::ContainsRegex("length +accuracy +exact_match +loss +offset"));
  EXPECT_THAT(shown, ::testing::ContainsRegex("\n +80 "));
  EXPECT_THAT(shown, HasSubstr("two_isi"));
}

TEST_F(App, AnAmbiguousPrefixNamesTheRuns) {
  for (int seed = 0; seed < 40; ++seed) sample.add_done({"train.seed=" + std::to_string(seed)});
  // Forty ids and sixteen first digits: some digit has two.
  for (const char digit : std::string("0123456789abcdef")) {
    const ProcessResult result = mneme({"show", std::string(1, digit)});
    if (result.exit_code == 2 && result.err.find("several runs start with") != std::string::npos) return;
  }
  ADD_FAILURE() << "no prefix was ambiguous";
}

TEST_F(App, VerifyTellsRightFromWrong) {
  const std::string good = MNEME_SOURCE_DIR "/tests/golden/mlp-m1.safetensors";
  EXPECT_THAT(mneme({"verify", good}).out, HasSubstr("1 of 1 files agree"));
  const ProcessResult strict = mneme({"verify", good, "--tolerance", "1e-12"});
  EXPECT_EQ(strict.exit_code, 6);
  EXPECT_THAT(strict.out, StartsWith("FAIL"));
  write_file_atomically(sample.directory / "damaged", read_file(good).substr(0, 100));
  const ProcessResult damaged = mneme({"verify", good, sample.directory / "damaged", "--json"});
  EXPECT_EQ(damaged.exit_code, 6);
  const Json document = parse_json(damaged.out, "output");
  EXPECT_EQ(document["failed"], 1);
  EXPECT_EQ(document["cases"][0]["ok"], true);
}

TEST_F(App, ListsAndSamplesAreDocuments) {
  const Json lists = json({"list"});
  EXPECT_GE(lists["mixers"].size(), 1u);
  EXPECT_GE(lists["tasks"].size(), 1u);
  EXPECT_EQ(lists["studies"][0]["name"], "demo");
  EXPECT_EQ(json({"show", "mixer", "attention"})["name"], "attention");
  EXPECT_EQ(json({"show", "task", "mqar"})["name"], "mqar");
  EXPECT_EQ(json({"sample", "mqar", "length=8", "pairs=1", "vocab=16", "--n", "2"})["examples"].size(), 2u);
}

TEST_F(App, ReindexReportsDamageAndGoesOn) {
  const std::string good = sample.add_done({"train.seed=1"}), bad = sample.add_done({"train.seed=2"});
  write_file_atomically(sample.lab.run(bad).path() / "config.json", "{}");
  const Json document = json({"reindex"});
  EXPECT_EQ(document["runs"], 1);
  EXPECT_EQ(document["damaged"].size(), 1u);
  write_file_atomically(sample.lab.index(), "no database");
  const ProcessResult runs = mneme({"runs"});
  EXPECT_EQ(runs.exit_code, 0);
  EXPECT_THAT(runs.out, HasSubstr(good));
  EXPECT_THAT(runs.err, HasSubstr("made it again"));
}

TEST_F(App, BenchMixerMeasuresEachLengthAndSavesItsWorkload) {
  const std::string file = (sample.directory / "case.safetensors").string();
  const Json result = json({"bench", "mixer", "mamba", "d_state=4", "--width", "8", "--lengths", "6,12", "--batch", "2", "--seconds",
                            "0.01", "--save-case", file});
  EXPECT_EQ(result["options"]["d_state"], 4);
  ASSERT_EQ(result["rows"].size(), 2u);
  EXPECT_EQ(result["rows"][0]["length"], 6);
  EXPECT_EQ(result["rows"][1]["length"], 12);
  for (const Json& row : result["rows"]) {
    EXPECT_GT(row["tokens_per_second"].get<double>(), 0);
    EXPECT_GT(row["useful_flops"].get<double>(), 0);
    EXPECT_GT(row["peak_bytes"].get<std::int64_t>(), 0);
  }
  EXPECT_GT(result["memory_exponent"].get<double>(), 0);
  EXPECT_EQ(mneme({"verify", file}).exit_code, 0);
}

TEST_F(App, TheDemoEndsInAReport) {
  const ProcessResult result = mneme({"demo", "--scale", "smoke"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const Path page = sample.lab.reports() / "demo-smoke" / "report.html";
  EXPECT_THAT(result.out, HasSubstr(page.string()));
  EXPECT_THAT(read_file(page), HasSubstr("Learning-rate window of attention on MQAR"));
  EXPECT_THAT(read_file(sample.lab.reports() / "demo-smoke" / "runs.csv"), HasSubstr("attention"));
  const Json report = json({"report", "demo", "--scale", "smoke"});
  EXPECT_EQ(report["runs"], 4);
  EXPECT_EQ(report["figures"][0]["series"][0]["points"].size(), 2u);
  const Json sweep = json({"sweep", "demo", "--scale", "smoke"});
  for (const Json& run : sweep["runs"]) EXPECT_EQ(run["already"], true);
  EXPECT_EQ(json({"report", "lr=1e-3"})["runs"], 2);
}

TEST_F(App, CtrlCLeavesAResumableRun) {
  LineProcess process(
      {.argv = joined(joined({MNEME_BINARY_DIR "/mneme", "train", "--lab", sample.lab.root().string()}, kTiny),
                      {"train.steps=1000000"}),
       .environment = {},
       .own_group = true});
  bool signalled = false;
  while (!process.exit_code()) {
    process.receive();
    if (!signalled && process.error_tail().find("started") != std::string::npos) {
      process.signal(SIGINT);
      signalled = true;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  EXPECT_TRUE(signalled);
  EXPECT_EQ(process.exit_code(), 130);
  EXPECT_EQ(json({"runs"})["runs"][0]["state"], "interrupted");
}

TEST_F(App, APlanTellsWhatAStudyWillCost) {
  const Json before = json({"plan", "demo", "--scale", "smoke", "--nodes", "3", "--jobs", "1"});
  EXPECT_EQ(before["total"]["runs"], 4);
  EXPECT_EQ(before["missing"]["runs"], 4);
  EXPECT_EQ(before["total"]["tokens"], 4 * 20 * 8 * 8);
  EXPECT_GT(before["seconds"].get<double>(), before["seconds_on_nodes"].get<double>());
  EXPECT_EQ(before["measured"].size(), 1u);
  ASSERT_EQ(mneme({"sweep", "demo", "--scale", "smoke", "--max-runs", "1"}).exit_code, 0);
  const Json after = json({"plan", "demo", "--scale", "smoke", "--list", "--no-measure"});
  EXPECT_EQ(after["missing"]["runs"], 3);
  EXPECT_EQ(after["states"]["done"], 1);
  EXPECT_EQ(after["runs"].size(), 4u);
  EXPECT_TRUE(after["seconds"].is_number()) << "measured before, remembered";
  EXPECT_THAT(mneme({"plan", "demo", "--scale", "smoke"}).out, HasSubstr("4 (3 new, 1 done); 3 to run"));
}

TEST_F(App, StatusTellsOfStudiesAndFailures) {
  ASSERT_EQ(mneme({"sweep", "demo", "--scale", "smoke"}).exit_code, 0);
  const RunConfig run = testing::sample_run();
  sample.lab.run(run.id).create(run.json);
  Json failure = testing::sample_summary(run, "failed", 0, 0);
  failure["reason"] = "the worker ended badly";
  RunWriter writer = RunWriter::begin(sample.lab.run(run.id), run.json, 0, "test");
  writer.write_summary(failure);
  writer.log("its last words");
  const Json status = json({"status"});
  ASSERT_EQ(status["studies"].size(), 1u);
  EXPECT_EQ(status["studies"][0]["states"]["done"], 4);
  ASSERT_EQ(status["failures"].size(), 1u);
  EXPECT_EQ(status["failures"][0]["reason"], "the worker ended badly");
  EXPECT_THAT(status["failures"][0]["log"][0].get<std::string>(), HasSubstr("its last words"));
  const std::string text = mneme({"status"}).out;
  for (const char* expected : {"100 %", "1 failed", "its last words", "0 running"})
    EXPECT_THAT(text, HasSubstr(expected));
}

TEST_F(App, CancelledRunsStaySoUntilTheyAreRetried) {
  EXPECT_EQ(json({"cancel", "--study", "demo", "--scale", "smoke"})["cancelled"].size(), 4u);
  const Json swept = json({"sweep", "demo", "--scale", "smoke"});
  for (const Json& run : swept["runs"]) EXPECT_EQ(run["state"], "cancelled");
  const std::string id = swept["runs"][0]["id"];
  EXPECT_EQ(json({"cancel", id})["left"].size(), 1u) << "it is cancelled already";
  EXPECT_EQ(json({"retry", id})["runnable"].size(), 1u);
  const Json again = json({"sweep", "demo", "--scale", "smoke"});
  EXPECT_EQ(again["runs"][0]["state"], "done");
  EXPECT_EQ(again["runs"][1]["state"], "cancelled");
  EXPECT_EQ(json({"retry", id})["left"].size(), 1u) << "what is done stays done";
}

TEST_F(App, DiffNamesFieldsAndTheStepWhereMetricsPart) {
  for (const char* seed : {"train.seed=1", "train.seed=2"}) mneme(joined(joined({"train"}, kTiny), {seed}));
  const Json runs = json({"runs"})["runs"];
  const std::string a = runs[0]["id"], b = runs[1]["id"];
  const Json diff = json({"diff", a, b});
  bool seed_differs = false;
  for (const Json& field : diff["config"]) seed_differs = seed_differs || field["path"] == "train.seed";
  EXPECT_TRUE(seed_differs);
  EXPECT_EQ(diff["metrics_part"]["step"], 1);
  EXPECT_TRUE(json({"diff", a, a})["metrics_part"].is_null());
  EXPECT_THAT(mneme({"diff", a, b}).out, HasSubstr("the metrics part at step 1"));
}

TEST_F(App, ExportsAreReadableByOthers) {
  ASSERT_EQ(mneme(joined({"train"}, kTiny)).exit_code, 0);
  const std::string id = testing::sample_run().id, out = (sample.directory / "out").string();
  EXPECT_THAT(mneme({"export"}).out, HasSubstr(id + ",done,budget,mqar,attention,8,1,0.001,42,5,"));
  EXPECT_THAT(mneme({"export", "--metrics"}).out, HasSubstr(id + ",1,validation,accuracy,"));
  const Json line = parse_json(mneme({"export", id, "--format", "jsonl"}).out, "line");
  EXPECT_EQ(line["metrics"].size(), 5u);
  EXPECT_EQ(json({"export", id, "--format", "tensorboard", "--output", out})["files"].size(), 1u);
  const Json weights = json({"export", "mixer=attention", "--format", "safetensors", "--output", out});
  const Safetensors file = Safetensors::load(weights["files"][0].get<std::string>());
  EXPECT_EQ(file.metadata().at("run"), id);
  for (const auto& [name, tensor] : file.tensors())
    EXPECT_FALSE(name.starts_with("param.") || name.starts_with("adam."));
}

TEST_F(App, AWindowIsSearchedWithTheRunsOfItsGridAndGoesOn) {
  const std::vector<std::string> search =
      joined(joined({"window", "--mixer", "attention", "--rates", "7", "--seeds", "1,2"}, kTiny),
             {"--threshold", "0.01", "train.stop_at=0"});
  const Json found = json(search);
  EXPECT_EQ(found["runs_of_the_grid"], 14);
  EXPECT_LE(found["runs_spent"], 7);
  EXPECT_TRUE(std::filesystem::exists(sample.lab.reports() / "window-attention" / "window.json"));
  const Json again = json(search);
  EXPECT_EQ(again["runs"], found["runs"]);
  EXPECT_EQ(json({"runs"})["matching"], found["runs_spent"]) << "nothing was trained twice";
  const Json full = json(joined(search, {"--full"}));
  EXPECT_EQ(full["runs_spent"], 14);
  EXPECT_EQ(json({"runs", "--limit", "0"})["matching"], 14) << "the search's runs are the grid's";
}

TEST_F(App, TenThousandRunsAreListedAndFiltered) {
  constexpr int kRuns = 10000;
  // Without the syncs that make a run durable: ten thousand of them would take minutes.
  for (int seed = 0; seed < kRuns; ++seed) {
    const RunConfig run = testing::sample_run({"train.seed=" + std::to_string(seed)});
    const Path directory = sample.lab.run(run.id).path();
    std::filesystem::create_directory(directory);
    std::ofstream(directory / "config.json") << canonical(run.json) << "\n";
    std::ofstream(directory / "summary.json") << testing::sample_summary(run, "done", 0.5, 0.5).dump() << "\n";
  }
  json({"reindex"});
  const auto seconds = [&](const std::vector<std::string>& arguments) {
    const auto start = std::chrono::steady_clock::now();
    EXPECT_EQ(mneme(arguments).exit_code, 0);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  EXPECT_EQ(json({"runs", "seed<10"})["matching"], 10);
  const double listed = seconds({"runs"}),
               filtered = seconds({"runs", "mixer=attention", "lr>1e-4", "outcome=done", "--sort=-seed"});
  const double planned =
      seconds(joined({"plan", "demo", "--no-measure", "--scale", "smoke", "train.seed=\"range(0, 5000, 1)\""}, {}));
  std::printf("10,000 runs: listed in %.2f s, filtered and sorted in %.2f s, a study of 10,000 planned in %.2f s\n",
              listed, filtered, planned);
}

TEST_F(App, AFullDiskStopsWithAClearMessage) {
  if (run_process({"unshare", "-Urm", "true"}).exit_code != 0)
    GTEST_SKIP() << "no user namespaces here: cannot make a small disk";
  const Path disk = sample.directory / "disk";
  std::filesystem::create_directories(disk);
  // Room for the lab and its index, not for the run's checkpoint.
  const ProcessResult result =
      run_process({"unshare", "-Urm", "sh", "-c",
                   "mount -t tmpfs -o size=96k tmpfs \"$0\" && exec \"$1\" train --lab \"$0/lab\" model.width=64 "
                   "train.steps=3 train.eval_examples=8 train.test_examples=8 train.batch=4",
                   disk.string(), MNEME_BINARY_DIR "/mneme"});
  EXPECT_EQ(result.exit_code, 4) << result.out << result.err;
  EXPECT_THAT(result.err + result.out, HasSubstr("No space left on device"));
}

}  // namespace
}  // namespace mneme
