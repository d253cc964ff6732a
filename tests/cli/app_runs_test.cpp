// Commands about runs: train, show, runs, diff, export, reindex.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <fstream>
#include <thread>

#include "cli/app_testing.h"
#include "core/safetensors.h"
#include "support/places.h"

namespace mneme::cli {
namespace {

using ::testing::HasSubstr;
using testing::joined;
using testing::kTiny;
using ::testing::Not;
using ::testing::StartsWith;

class AppRuns : public testing::AppTest {};

TEST_F(AppRuns, PrintConfigShowsTheIdAndTrainsNothing) {
  const Json document = json(joined({"train", "--print-config"}, kTiny));
  EXPECT_EQ(document["id"], testing::sample_run().id);
  EXPECT_EQ(document["config"]["task"]["length"], 8);
  EXPECT_THAT(mneme(joined({"train", "--print-config"}, kTiny)).out, HasSubstr(testing::sample_run().id));
  EXPECT_TRUE(std::filesystem::is_empty(sample.lab.runs()));
}

TEST_F(AppRuns, AModelThatCannotWorkIsWarnedAbout) {
  const ProcessResult result = mneme(joined(joined({"train", "--print-config"}, kTiny), {"model.positions=none"}));
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.err, StartsWith("mneme: warning: "));
  EXPECT_THAT(result.err, HasSubstr("position"));
}

TEST_F(AppRuns, ARunIsTrainedShownAndNotTrainedAgain) {
  const ProcessResult first = mneme(joined({"train"}, kTiny));
  ASSERT_EQ(first.exit_code, 0) << first.err;
  const std::string id = testing::sample_run().id;
  EXPECT_THAT(first.out, HasSubstr("run " + id + ": done (budget) after 5 steps"));
  EXPECT_THAT(first.err, Not(HasSubstr("\x1b")));

  const Json again = json(joined({"train"}, kTiny));
  EXPECT_EQ(again["already"], true);
  EXPECT_EQ(again["state"], "done");
  EXPECT_EQ(again["summary"]["values"]["step"], 5);
  EXPECT_THAT(mneme(joined({"train"}, kTiny)).out, HasSubstr("already finished"));

  EXPECT_EQ(json({"runs"})["runs"][0]["id"], id);
  EXPECT_EQ(json({"runs", "lr>1"})["runs"].size(), 0u);
  EXPECT_THAT(mneme({"runs"}).out, HasSubstr(id));
  const Json shown = json({"show", id.substr(0, 5)});
  EXPECT_EQ(shown["id"], id);
  EXPECT_EQ(shown["metrics"].size(), 5u);
  EXPECT_THAT(mneme({"show", id}).out, HasSubstr("validation accuracy\n"));
}

TEST_F(AppRuns, WhatATrainedModelWasTestedOnIsShown) {
  const ProcessResult trained =
      mneme({"train", "task.name=counting", "task.length=40", "task.isi=3", "task.iti=[4,6]", "model.mixer=gru",
             "model.width=4", "model.layers=1", "train.batch=4", "train.eval_examples=8", "train.test_examples=8",
             "train.steps=2", "test.along=length", "test.values=[40,80]", "test.examples=8", "test.phases=true",
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

TEST_F(AppRuns, AWrongFilterIsAnErrorAndNotAnEmptyAnswer) {
  sample.add_done({"model.mixer=attention"}, 0.95, 0.95);
  sample.add_done({"model.mixer=rnn"}, 0.5, 0.5);
  for (const auto& [filter, hint] :
       std::vector<std::pair<std::string, std::string>>{{"lr>abc", "expected a number"},
                                                        {"state=finished", "unknown state 'finished'"},
                                                        {"state=don", "did you mean 'done'?"},
                                                        {"mixer=mambba", "did you mean 'mamba'?"},
                                                        {"mixer=attention,rrn", "did you mean 'rnn'?"},
                                                        {"task=mqra", "did you mean 'mqar'?"},
                                                        {"task.lenght=32", "did you mean 'length'?"},
                                                        {"task.length=long", "expected a number"},
                                                        {"model.atention.num_heads=2", "did you mean 'attention'?"},
                                                        {"model.attention.heads=2", "unknown option 'heads'"},
                                                        {"model.block=zoolgy", "did you mean 'zoology'?"},
                                                        {"id=xyz", "expected the first of a run's 12 digits"},
                                                        {"test>=90", "90%"}})
    for (const char* command : {"runs", "cancel", "retry", "export", "report", "plot", "evaluate", "inspect", "rm"}) {
      // To this one an option of the task is what the runs are evaluated on.
      if (command == std::string("evaluate") && filter.starts_with("task.")) continue;
      const ProcessResult result = mneme({command, filter});
      EXPECT_EQ(result.exit_code, 2) << command << " " << filter;
      EXPECT_THAT(result.err, HasSubstr(hint)) << command << " " << filter;
    }
  EXPECT_EQ(mneme({"runs", "--sort=task.lenght"}).exit_code, 2);
  EXPECT_EQ(json({"runs", "test>=90%"})["runs"].size(), 1u);
  EXPECT_EQ(json({"runs", "mixer=attention,rnn"})["runs"].size(), 2u);
  EXPECT_EQ(json({"runs", "mixer!=attention,rnn"})["runs"].size(), 0u);
  EXPECT_EQ(json({"runs", "mixer=mamba"})["runs"].size(), 0u) << "right, and empty";
  const std::string id = json({"runs", "mixer=rnn"})["runs"][0]["id"];
  for (const std::size_t digits : {4u, 12u})
    EXPECT_EQ(json({"runs", "id=" + id.substr(0, digits)})["runs"][0]["id"], id) << "the first digits are enough";
}

// Nothing was removed or rebuilt, and the exit code said that all was well.
TEST_F(AppRuns, WhatTheDiskRefusesIsNoSuccess) {
  sample.add_done({});
  write_file_atomically(sample.lab.trash(), "a file in the way");
  const ProcessResult removal = mneme({"rm", "--yes", "lr>0"});
  EXPECT_EQ(removal.exit_code, 4) << removal.err;
  EXPECT_THAT(removal.out, HasSubstr("0 runs removed"));
  std::filesystem::remove(sample.lab.index());
  file_system().create_directories(sample.lab.index());
  EXPECT_EQ(mneme({"reindex"}).exit_code, 4);
}

// `inspect` said nothing, `report` spoke of none of 0 runs.
TEST_F(AppRuns, ASelectionWithoutARunIsSaidByCommandsThatNeedOne) {
  sample.add_done({"model.mixer=attention"}, 0.95, 0.95);
  for (const char* command : {"plot", "inspect", "report"}) {
    const ProcessResult result = mneme({command, "mixer=mamba"});
    EXPECT_NE(result.exit_code, 0) << command;
    EXPECT_THAT(result.err, HasSubstr("expected at least one")) << command;
  }
}

TEST_F(AppRuns, AnAmbiguousPrefixNamesTheRuns) {
  for (int seed = 0; seed < 40; ++seed) sample.add_done({"train.seed=" + std::to_string(seed)});
  // Forty ids and sixteen first digits: some digit has two.
  for (const char digit : std::string("0123456789abcdef")) {
    const ProcessResult result = mneme({"show", std::string(1, digit)});
    if (result.exit_code == 2 && result.err.find("several runs start with") != std::string::npos) return;
  }
  ADD_FAILURE() << "no prefix was ambiguous";
}

TEST_F(AppRuns, ReindexReportsDamageAndGoesOn) {
  const std::string good = sample.add_done({"train.seed=1"}), bad = sample.add_done({"train.seed=2"});
  write_file_atomically(sample.lab.run(bad).path() / "config.json", "{}");
  const Json document = json({"reindex"});
  EXPECT_EQ(document["runs"], 1);
  EXPECT_EQ(document["damaged"].size(), 1u);
  write_file_atomically(sample.lab.index(), "no database");
  const ProcessResult runs = mneme({"runs"});
  EXPECT_EQ(runs.exit_code, 0);
  EXPECT_THAT(runs.out, HasSubstr(good));
  EXPECT_THAT(runs.err, HasSubstr("rebuilt it"));
}

TEST_F(AppRuns, CtrlCLeavesAResumableRun) {
  LineProcess process(
      {.argv = joined(joined({binary_directory() + "/mneme", "train", "--lab", sample.lab.root().string()}, kTiny),
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

TEST_F(AppRuns, DiffNamesFieldsAndTheStepWhereMetricsPart) {
  for (const char* seed : {"train.seed=1", "train.seed=2"}) mneme(joined(joined({"train"}, kTiny), {seed}));
  const Json runs = json({"runs"})["runs"];
  const std::string a = runs[0]["id"], b = runs[1]["id"];
  const Json diff = json({"diff", a, b});
  bool seed_differs = false;
  for (const Json& field : diff["config"]) seed_differs = seed_differs || field["path"] == "train.seed";
  EXPECT_TRUE(seed_differs);
  EXPECT_EQ(diff["metrics_part"]["step"], 1);
  EXPECT_TRUE(json({"diff", a, a})["metrics_part"].is_null());
  EXPECT_THAT(mneme({"diff", a, b}).out, HasSubstr("the metrics first differ at step 1"));
}

TEST_F(AppRuns, ExportsAreReadableByOthers) {
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

TEST_F(AppRuns, TenThousandRunsAreListedAndFiltered) {
  constexpr int kRuns = 10000;
  // Without the syncs that make a run durable: ten thousand of them would take minutes.
  for (int seed = 0; seed < kRuns; ++seed) {
    const config::RunConfig run = testing::sample_run({"train.seed=" + std::to_string(seed)});
    const Path directory = sample.lab.run(run.id).path();
    std::filesystem::create_directory(directory);
    std::ofstream(directory / "config.json") << canonical(run.json()) << "\n";
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

}  // namespace
}  // namespace mneme::cli
