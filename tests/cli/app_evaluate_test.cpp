// mneme evaluate: from arguments to kept results and figures.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/app_testing.h"

namespace mneme::cli {
namespace {

using ::testing::HasSubstr;
using testing::joined;
using testing::kTiny;

class AppEvaluate : public testing::AppTest {
 protected:
  // A trained run of a recurrent model.
  std::string trained(const std::string& seed = "1") const {
    const ProcessResult result =
        mneme(joined(joined({"train"}, kTiny), {"model.mixer=gru", "train.keep=[0,2]", "train.seed=" + seed}));
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return json({"runs", "seed=" + seed})["runs"][0]["id"];
  }
  std::string refused(const std::vector<std::string>& arguments) const {
    const ProcessResult result = mneme(joined({"evaluate"}, arguments));
    EXPECT_EQ(result.exit_code, 2) << result.out << result.err;
    return result.err;
  }
};

TEST_F(AppEvaluate, KeepsResultsUnderANameAndLeavesTheRunAsItWas) {
  const std::string id = trained();
  const Path directory = sample.lab.run(id).path();
  const std::string summary = read_file(directory / "summary.json"),
                    weights = read_file(directory / "checkpoint.safetensors");
  const std::vector<std::string> ask{"evaluate",   id,   "--along", "length=8..14+2",
                                     "--examples", "20", "--name",  "longer"};
  const Json first = json(ask);
  const Json& points = first["evaluations"][0]["values"]["points"];
  ASSERT_EQ(points.size(), 4U);
  EXPECT_EQ(points[3]["value"], 14);
  EXPECT_TRUE(points[3].contains("accuracy_by_position"));
  EXPECT_EQ(first["evaluations"][0]["step"], 5);
  EXPECT_EQ(read_file(directory / "summary.json"), summary);
  EXPECT_EQ(read_file(directory / "checkpoint.safetensors"), weights);
  EXPECT_TRUE(std::filesystem::exists(directory / "evaluations" / "longer.json"));
  // At the training value the point is the run's own test split.
  EXPECT_EQ(json({"evaluate", id, "--along", "length=8", "--examples",
                  "8"})["evaluations"][0]["values"]["points"][0]["accuracy"],
            parse_json(summary, "summary")["values"]["test"]["accuracy"]);
  // The same again is answered from the file; with --replace it is computed again, to the same numbers.
  EXPECT_EQ(json(ask)["evaluations"], first["evaluations"]);
  EXPECT_EQ(json(joined(ask, {"--replace"}))["evaluations"][0]["values"], first["evaluations"][0]["values"]);
  EXPECT_THAT(refused({id, "--along", "length=8", "--name", "longer"}),
              HasSubstr("has an evaluation 'longer' with other settings"));
  const ProcessResult shown = mneme({"show", id});
  EXPECT_THAT(shown.out, HasSubstr("evaluations"));
  EXPECT_THAT(shown.out, HasSubstr("longer"));
  EXPECT_EQ(json({"show", id})["evaluations"]["longer"]["values"], first["evaluations"][0]["values"]);
  EXPECT_EQ(json({"show", id})["kept_steps"], Json({0, 2}));
}

TEST_F(AppEvaluate, SeveralRunsShareAFigureWithTheTrainingRange) {
  const std::string a = trained("1"), b = trained("2");
  const Json result = json({"evaluate", a, b, "--along", "length=8,12", "--examples", "10", "--name", "both"});
  EXPECT_EQ(result["evaluations"].size(), 2U);
  const Path figure = sample.lab.reports() / "evaluate-both" / "figure.vl.json";
  ASSERT_TRUE(std::filesystem::exists(figure)) << result["files"];
  const std::string text = read_file(figure);
  EXPECT_THAT(text, HasSubstr("dashed: end of the training"));
  EXPECT_THAT(text, HasSubstr("2 seeds per point"));
  EXPECT_TRUE(std::filesystem::exists(result["page"].get<std::string>()));
  // A filter selects, task.* changes.
  EXPECT_EQ(json({"evaluate", "mixer=gru", "task.vocab=12", "--examples", "4"})["evaluations"].size(), 2U);
}

TEST_F(AppEvaluate, WeightsOfAStepThatWasKept) {
  const std::string id = trained();
  EXPECT_EQ(json({"evaluate", id, "--kept", "2", "--examples", "4"})["evaluations"][0]["step"], 2);
  EXPECT_THAT(refused({id, "--kept", "3", "--examples", "4"}), HasSubstr("no weights of step 3 are kept"));
}

TEST_F(AppEvaluate, PhaseTestsAreShownAtEachPoint) {
  ASSERT_EQ(
      mneme({"train", "task.name=counting", "task.length=60", "model.mixer=gru", "model.width=8", "model.layers=1",
             "train.steps=2", "train.batch=4", "train.eval_examples=4", "train.test_examples=4", "train.seed=1"})
          .exit_code,
      0);
  const ProcessResult shown =
      mneme({"evaluate", "mixer=gru", "--along", "isi=5,10", "--phases", "--examples", "2", "--name", "phases"});
  EXPECT_EQ(shown.exit_code, 0) << shown.err;
  for (const char* column : {"ends predicted", "offset", "two ISIs", "double ISI", "double ISI, gap 1"})
    EXPECT_THAT(shown.out, HasSubstr(column));
  EXPECT_THAT(shown.out, HasSubstr("failed"));
  const Json points = json({"evaluate", "mixer=gru", "--along", "isi=5,10", "--phases", "--examples", "2", "--name",
                            "phases"})["evaluations"][0]["values"]["points"];
  ASSERT_EQ(points.size(), 2U);
  for (const Json& point : points) EXPECT_TRUE(point["phases"].contains("double_isi"));
}

TEST_F(AppEvaluate, WrongInputIsNamed) {
  const std::string id = trained();
  EXPECT_THAT(refused({id, "--along", "blanks=3"}), HasSubstr("mqar has no axis 'blanks', expected one of length"));
  EXPECT_THAT(refused({id, "--along", "length=8.."}), HasSubstr("--along: got '"));
  EXPECT_THAT(refused({id, "task.lenght=9"}), HasSubstr("unknown key 'lenght'"));
  EXPECT_THAT(refused({id, "task.name=copying"}), HasSubstr("a run is evaluated on its own task"));
  EXPECT_THAT(refused({id, "--mode", "fast"}), HasSubstr("expected auto, forward or step"));
  EXPECT_THAT(refused({id, "--examples", "0"}), HasSubstr("[--examples] got 0, expected at least 1"));
  EXPECT_THAT(refused({id, "--kept", "-5"}), HasSubstr("[--kept] got -5, expected a step of train.keep"));
  EXPECT_THAT(refused({id, "--name", "a/b"}), HasSubstr("[--name] got 'a/b'"));
  EXPECT_THAT(refused({}), HasSubstr("no runs selected"));
  // A run without a checkpoint, and one whose positions end.
  EXPECT_THAT(refused({sample.add_done(), "--along", "length=8"}), HasSubstr("the run has no checkpoint (it is done)"));
  const ProcessResult learned = mneme(joined(joined({"train"}, kTiny), {"model.positions=learned", "train.seed=9"}));
  ASSERT_EQ(learned.exit_code, 0) << learned.err;
  EXPECT_THAT(refused({json({"runs", "seed=9"})["runs"][0]["id"], "--along", "length=8,10"}),
              HasSubstr("length = 10: 10 steps, but its learned positions (model.max_positions) end at 8"));
}

}  // namespace
}  // namespace mneme::cli
