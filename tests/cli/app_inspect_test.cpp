// `mneme inspect`, with the real worker.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "catalog/analyses.h"
#include "cli/app_testing.h"
#include "core/files.h"

namespace mneme::cli {
namespace {

using ::testing::HasSubstr;
using testing::joined;
using testing::kTiny;

class AppInspect : public testing::AppTest {};

TEST_F(AppInspect, ATrainedRunIsLookedAtAndItsDirectoryHasTheResults) {
  ASSERT_EQ(mneme(joined({"train"}, kTiny)).exit_code, 0);
  const std::string id = testing::sample_run().id;
  const Json document = json({"inspect", id, "--examples", "2"});
  ASSERT_EQ(document["runs"].size(), 1U);
  const Json& run = document["runs"][0];
  EXPECT_EQ(run["run"], id);
  EXPECT_EQ(run["step"], 5);
  ASSERT_EQ(run["analyses"].size(), catalog::analysis_catalog().size());
  for (std::size_t i = 0; i < run["analyses"].size(); ++i) {
    EXPECT_EQ(run["analyses"][i]["analysis"], catalog::analysis_catalog()[i].name);
    EXPECT_FALSE(run["analyses"][i]["findings"].empty());
  }
  const Path directory = sample.lab.run(id).path();
  const Json kept = parse_json(read_file(directory / "inspect.json"), "inspect.json");
  EXPECT_EQ(kept["sections"].size(), catalog::analysis_catalog().size());
  EXPECT_TRUE(std::filesystem::exists(directory / "inspect/gradient.json"));

  const ProcessResult text = mneme({"inspect", id.substr(0, 4), "--what", "gradient"});
  EXPECT_EQ(text.exit_code, 0) << text.err;
  EXPECT_THAT(text.out, HasSubstr("Gradient by lag"));
  // The same again gives the same numbers.
  const Json again = json({"inspect", id, "--what", "gradient", "--examples", "2"})["runs"][0]["analyses"];
  ASSERT_EQ(again.size(), 1U);
  for (const Json& analysis : run["analyses"]) {
    if (analysis["analysis"] == "gradient") {
      EXPECT_EQ(again[0]["result"], analysis["result"]);
    }
  }
}

TEST_F(AppInspect, AReportShowsWhatWasFoundInItsRuns) {
  ASSERT_EQ(mneme(joined({"train"}, kTiny)).exit_code, 0);
  const std::string id = testing::sample_run().id;
  EXPECT_TRUE(json({"report", "mixer=attention"})["inspections"].empty());
  const Json found = json({"inspect", id, "--what", "matrix,gradient", "--examples", "2"})["runs"][0]["analyses"];
  const Json report = json({"report", "mixer=attention"});
  std::vector<std::string> said, expected;
  for (const Json& line : report["inspections"]) {
    EXPECT_EQ(line["run"], id);
    said.push_back(line["found"]);
  }
  for (const Json& analysis : found)
    for (const Json& finding : analysis["findings"]) expected.push_back(finding);
  EXPECT_EQ(said, expected);
  EXPECT_GE(said.size(), 2U);
  const std::string page = read_file(std::string(report["page"]));
  for (const char* part : {"Mixing matrices: attention, lr", "Gradient by lag: attention, lr"})
    EXPECT_THAT(page, HasSubstr(part));
  EXPECT_THAT(page, HasSubstr(id + "-gradient-by-lag"));  // the figure, drawn by the page
  const Path csv = Path(std::string(report["page"])).parent_path() / "inspections.csv";
  EXPECT_THAT(read_file(csv), HasSubstr("run,model,analysis,found"));

  // Results of another shape do not take the report away.
  write_file_atomically(sample.lab.run(id).path() / "inspect/gradient.json", "{}\n");
  const ProcessResult text = mneme({"report", "mixer=attention"});
  EXPECT_EQ(text.exit_code, 0) << text.err;
  EXPECT_THAT(text.out, HasSubstr("not a result of mneme inspect"));
}

// The matrix of an IDS4 has no bound: at a rate that warms up to 1 its powers overflow.
TEST_F(AppInspect, OfARunThatDivergedTheAutopsyNamesAGroup) {
  mneme({"train", "task.length=48", "task.pairs=2", "task.vocab=64", "model.width=16", "model.mixer=ids4",
         "train.batch=8", "train.steps=400", "train.eval_every=400", "train.clip=0", "train.lr=1",
         "train.schedule=constant", "train.warmup=0.9", "train.eval_examples=20", "train.test_examples=20"});
  const Json rows = json({"runs", "state=diverged"})["runs"];
  ASSERT_EQ(rows.size(), 1U);
  const std::string id = rows[0]["id"];
  const Json run = json({"inspect", id, "--what", "autopsy"})["runs"][0];
  ASSERT_EQ(run["analyses"].size(), 1U);
  EXPECT_THAT(run["analyses"][0]["findings"][0].get<std::string>(), HasSubstr("left its band first, at step"));
  EXPECT_EQ(run["analyses"][0]["findings"][0], json({"show", id})["autopsy"]);
  EXPECT_TRUE(std::filesystem::exists(sample.lab.run(id).path() / "inspect/autopsy.vl.json"));
  // Without any weights the autopsy is what there is.
  const ProcessResult all = mneme({"inspect", id});
  EXPECT_EQ(all.exit_code, 0) << all.out << all.err;
  EXPECT_THAT(all.out, HasSubstr("Autopsy: the last steps of training"));
}

TEST_F(AppInspect, ARunThatFailedHasItsLastSteps) {
  const std::vector<std::string> train =
      joined(joined({"train"}, kTiny), {"train.steps=8", "train.keep=[6]", "model.mixer=gru"});
  ASSERT_EQ(mneme(train).exit_code, 0);
  const std::string id = json({"runs", "mixer=gru"})["runs"][0]["id"];
  const Path directory = sample.lab.run(id).path();
  std::filesystem::remove_all(directory);
  // The folder of kept weights cannot be made: the run fails after step 6.
  std::filesystem::create_directories(directory);
  std::filesystem::create_directory_symlink("/nowhere/at/all", directory / "weights");
  EXPECT_NE(mneme(train).exit_code, 0);
  const Json run = json({"inspect", id, "--what", "autopsy"})["runs"][0];
  EXPECT_EQ(run["analyses"][0]["result"]["steps"], Json({1, 2, 3, 4, 5, 6}));
}

TEST_F(AppInspect, WhatWasFoundBeforeAFailureIsKept) {
  ASSERT_EQ(mneme(joined({"train"}, kTiny)).exit_code, 0);
  ASSERT_EQ(mneme(joined(joined({"train"}, kTiny), {"train.seed=2"})).exit_code, 0);
  const std::string id = testing::sample_run().id;
  for (const char* file : {"checkpoint.safetensors", "checkpoint.previous.safetensors"})
    std::filesystem::remove(sample.lab.run(id).path() / file);
  const ProcessResult both = mneme({"inspect", "mixer=attention", "--what", "gradient,autopsy", "--examples", "2"});
  EXPECT_EQ(both.exit_code, 5) << both.err;
  EXPECT_THAT(both.err, HasSubstr("run " + id + " was not inspected"));
  for (const Json& run : json({"runs", "mixer=attention"})["runs"]) {
    const Path folder = sample.lab.run(run["id"].get<std::string>()).path() / "inspect";
    EXPECT_TRUE(std::filesystem::exists(folder / "autopsy.json"));
    EXPECT_EQ(std::filesystem::exists(folder / "gradient.json"), run["id"] != id);
  }
}

TEST_F(AppInspect, WrongInputIsNamed) {
  ASSERT_EQ(mneme(joined({"train"}, kTiny)).exit_code, 0);
  const std::string id = testing::sample_run().id;
  const ProcessResult unknown = mneme({"inspect", id, "--what", "gradiant"});
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_THAT(unknown.err, HasSubstr("[--what] unknown analysis 'gradiant', did you mean 'gradient'?"));
  const ProcessResult none = mneme({"inspect", id, "--examples", "0"});
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_THAT(none.err, HasSubstr("[--examples] got 0, expected 1 to 10000"));
  EXPECT_EQ(mneme({"inspect", "ffffffffffff"}).exit_code, 2);

  for (const char* file : {"checkpoint.safetensors", "checkpoint.previous.safetensors"})
    std::filesystem::remove(sample.lab.run(id).path() / file);
  const ProcessResult untrained = mneme({"inspect", id});
  EXPECT_EQ(untrained.exit_code, 2);
  EXPECT_THAT(untrained.err, HasSubstr("it has no checkpoint, expected a run that was trained"));
}

}  // namespace
}  // namespace mneme::cli
