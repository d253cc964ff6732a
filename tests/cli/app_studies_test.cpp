// Commands about studies: demo, plan, status, cancel and retry, window.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/app_testing.h"

namespace mneme::cli {
namespace {

using ::testing::HasSubstr;
using testing::joined;
using testing::kTiny;

class AppStudies : public testing::AppTest {};

TEST_F(AppStudies, TheDemoEndsInAReport) {
  const ProcessResult result = mneme({"demo", "--scale", "smoke"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const Path page = sample.lab.reports() / "demo-smoke" / "report.html";
  EXPECT_THAT(result.out, HasSubstr(page.string()));
  EXPECT_THAT(read_file(page), HasSubstr("Learning-rate windows on MQAR"));
  EXPECT_THAT(read_file(sample.lab.reports() / "demo-smoke" / "runs.csv"), HasSubstr("attention"));
  const Json report = json({"report", "demo", "--scale", "smoke"});
  EXPECT_EQ(report["runs"], 4);
  EXPECT_EQ(report["figures"][0]["series"][0]["points"].size(), 2u);
  const Json sweep = json({"sweep", "demo", "--scale", "smoke"});
  for (const Json& run : sweep["runs"]) EXPECT_EQ(run["already"], true);
  EXPECT_EQ(json({"report", "lr=1e-3"})["runs"], 2);
}

TEST_F(AppStudies, AReportComparesMixersSeedBySeed) {
  for (const char* seed : {"train.seed=1", "train.seed=2"}) {
    sample.add_done({"model.mixer=attention", seed}, 0.75, 0.75);
    sample.add_done({"model.mixer=rnn", seed}, 0.5, seed == std::string("train.seed=1") ? 0.25 : 0.5);
  }
  const Json paired = json({"report", "task=mqar"})["figures"][0]["paired"];
  ASSERT_EQ(paired.size(), 2u);
  EXPECT_EQ(paired[0]["first"], "attention");
  EXPECT_EQ(paired[0]["pairs"], 2);
  EXPECT_DOUBLE_EQ(paired[0]["mean_difference"], 0.375);
  EXPECT_DOUBLE_EQ(paired[0]["standard_error"], 0.125);
  EXPECT_THAT(read_file(sample.lab.reports() / "runs-task=mqar" / "paired.csv"),
              HasSubstr("attention,rnn,0.001,0.001,true,2,0.375,0.125,"));
}

TEST_F(AppStudies, APlanTellsWhatAStudyWillCost) {
  const Json before = json({"plan", "demo", "--scale", "smoke", "--nodes", "3", "--jobs", "1"});
  EXPECT_EQ(before["total"]["runs"], 4);
  EXPECT_EQ(before["missing"]["runs"], 4);
  EXPECT_EQ(before["total"]["tokens"], 4 * 20 * 8 * 8);
  EXPECT_GT(before["seconds"].get<double>(), before["seconds_on_nodes"].get<double>());
  EXPECT_EQ(before["measured"].size(), 2u) << "attention and deltanet";
  ASSERT_EQ(mneme({"sweep", "demo", "--scale", "smoke", "--max-runs", "1"}).exit_code, 0);
  const Json after = json({"plan", "demo", "--scale", "smoke", "--list", "--no-measure"});
  EXPECT_EQ(after["missing"]["runs"], 3);
  EXPECT_EQ(after["states"]["done"], 1);
  EXPECT_EQ(after["runs"].size(), 4u);
  EXPECT_TRUE(after["seconds"].is_number()) << "measured before, remembered";
  EXPECT_THAT(mneme({"plan", "demo", "--scale", "smoke"}).out, HasSubstr("4 (3 new, 1 done); 3 to run"));
}

TEST_F(AppStudies, StatusTellsOfStudiesAndFailures) {
  ASSERT_EQ(mneme({"sweep", "demo", "--scale", "smoke"}).exit_code, 0);
  const config::RunConfig run = testing::sample_run();
  sample.lab.run(run.id).create(run.json());
  Json failure = testing::sample_summary(run, "failed", 0, 0);
  failure["reason"] = "the worker ended badly";
  store::RunWriter writer = store::RunWriter::begin(sample.lab.run(run.id), run.json(), 0, "test");
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

TEST_F(AppStudies, CancelledRunsStaySoUntilTheyAreRetried) {
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

TEST_F(AppStudies, AWindowIsSearchedWithTheRunsOfItsGridAndGoesOn) {
  const std::vector<std::string> search =
      joined(joined({"window", "--mixer", "attention", "--rates", "7", "--seeds", "1,2"}, kTiny),
             {"--threshold", "0.01", "train.stop_at=0"});
  const Json found = json(search);
  EXPECT_EQ(found["runs_of_the_grid"], 14);
  EXPECT_LE(found["runs_spent"], 7);
  const std::set<Path> reports = report_directories();
  ASSERT_EQ(reports.size(), 1u);
  EXPECT_TRUE(std::filesystem::exists(*reports.begin() / "window.json"));
  const Json again = json(search);
  EXPECT_EQ(again["runs"], found["runs"]);
  EXPECT_EQ(json({"runs"})["matching"], found["runs_spent"]) << "nothing was trained twice";
  const Json full = json(joined(search, {"--full"}));
  EXPECT_EQ(full["runs_spent"], 14);
  EXPECT_EQ(json({"runs", "--limit", "0"})["matching"], 14) << "the search's runs are the grid's";
}

}  // namespace
}  // namespace mneme::cli
