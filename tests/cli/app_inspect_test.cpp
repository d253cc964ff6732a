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
