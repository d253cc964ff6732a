// What a new user tries on the first day.
#include <gmock/gmock.h>

#include "cli/app_testing.h"
#include "core/text.h"

namespace mneme {
namespace {

using ::testing::HasSubstr;
using testing::joined;
using testing::kTiny;
using ::testing::Not;
using ::testing::StartsWith;

class FirstDay : public testing::AppTest {};

TEST_F(FirstDay, AStudyWithOverridesIsAStudyOfItsOwn) {
  const std::vector<std::string> demo{"demo", "--scale", "smoke", "--jobs", "1"};
  ASSERT_EQ(mneme(joined({"sweep"}, demo)).exit_code, 0);
  const ProcessResult variant = mneme(joined(joined({"sweep"}, demo), {"train.steps=3", "train.seed=[1, 2]"}));
  ASSERT_EQ(variant.exit_code, 0) << variant.err;
  EXPECT_THAT(variant.err, HasSubstr("1 worker\n"));
  EXPECT_THAT(variant.out, HasSubstr("mneme report demo --scale smoke train.steps=3 'train.seed=[1, 2]'\n"));
  const Json studies = json({"status"})["studies"];
  ASSERT_EQ(studies.size(), 2u);
  EXPECT_EQ(studies[0]["overrides"], Json::array());
  EXPECT_EQ(studies[1]["overrides"], Json::array({"train.seed=[1, 2]", "train.steps=3"}));
  EXPECT_THAT(mneme({"status"}).out, HasSubstr("demo train.seed=[1, 2] train.steps=3"));

  const Json plain = json({"report", "demo", "--scale", "smoke"});
  const Json own = json({"report", "demo", "--scale", "smoke", "train.steps=3", "train.seed=[1, 2]"});
  EXPECT_NE(plain["page"], own["page"]);
}

TEST_F(FirstDay, AConfigurationCanBeGivenBack) {
  const std::string id = json(joined({"train"}, kTiny))["id"];
  const std::string run = sample.lab.run(id).path().string();
  for (const std::string& source : {id.substr(0, 6), run, run + "/config.json"}) {
    const Json again = json({"train", source});
    EXPECT_EQ(again["id"], id) << source;
    EXPECT_EQ(again["already"], true) << source;
  }
  for (const std::vector<std::string>& print :
       {std::vector<std::string>{"train", "--print-config"}, {"train", "--print-config", "--json"}}) {
    const Path file = sample.directory / "printed";
    write_file_atomically(file, mneme(joined(print, kTiny)).out);
    EXPECT_EQ(json({"train", file.string()})["id"], id);
  }
  EXPECT_NE(json({"train", id, "train.seed=7", "--print-config"})["id"], id);
}

TEST_F(FirstDay, SmallMistakesAreExplained) {
  for (const auto& [argument, hint] : std::vector<std::pair<std::string, std::string>>{
           {"lr=1e-3", "did you mean 'train.lr'?"},
           {"length=8", "did you mean 'task.length'?"},
           {"train.seed=[1, 2]", "mneme sweep"},
       }) {
    const ProcessResult result = mneme({"train", argument});
    EXPECT_EQ(result.exit_code, 2) << argument;
    EXPECT_THAT(result.err, HasSubstr(hint)) << argument;
  }
  EXPECT_THAT(mneme({"plan", "demo", "train.lr=geomspace(1e-3, 1e-2, 3)"}).err, HasSubstr("expected logspace("));
  EXPECT_EQ(json({"train", "--print-config", "train.steps=1e3"})["config"]["train"]["steps"], 1000);
  EXPECT_EQ(mneme({"train", "--print-config", "train.steps=1.5"}).exit_code, 2);
  EXPECT_EQ(mneme({"help", "sweep"}).out, mneme({"sweep", "--help"}).out);
}

TEST_F(FirstDay, CsvIsForMachines) {
  sample.add_done({"train.lr=0.0012345678901234", "task.vocab=32"}, 0.123456789012, 0.987654321);
  sample.add_done({"train.lr=0.001", "task.vocab=64"});
  const std::string csv = mneme({"export", "--format", "csv"}).out;
  EXPECT_THAT(csv, StartsWith("run,state,reason,task,mixer,width,layers,lr,seed,steps,seconds,validation_accuracy,"
                              "test_accuracy,task.vocab\r\n"));
  for (const char* number : {"0.0012345678901234", "0.123456789012", "0.987654321", ",32\r\n", ",64\r\n"})
    EXPECT_THAT(csv, HasSubstr(number));
  EXPECT_THAT(csv, Not(HasSubstr("%")));
  EXPECT_EQ(mneme({"export", "--study", "demo", "--scale", "smoke"}).out,
            csv.substr(0, csv.find(",task.vocab")) + "\r\n");
}

TEST_F(FirstDay, MetricsByPlaceAreShownAndExported) {
  const std::string id = json(joined({"train"}, kTiny))["id"];
  const Json test = json({"show", id})["summary"]["values"]["test"];
  for (const char* metric : {"accuracy_by_position", "accuracy_by_distance"}) {
    EXPECT_FALSE(test[metric].empty()) << metric;
    EXPECT_THAT(mneme({"show", id}).out, HasSubstr(metric));
    EXPECT_THAT(mneme({"export", "--metrics"}).out, HasSubstr(std::string(",test,") + metric + ","));
  }
  EXPECT_EQ(mneme({"report", "mixer=attention", "--kind", "by-distance"}).exit_code, 0);
}

TEST_F(FirstDay, APlanSaysHowMuchMemoryARunNeeds) {
  const Json plan = json(joined({"plan", "demo", "--scale", "smoke"}, {}));
  ASSERT_FALSE(plan["measured"].empty());
  for (const Json& measured : plan["measured"]) {
    EXPECT_GT(measured["bytes"].get<double>(), 10e6) << "libtorch alone";
    EXPECT_LT(measured["bytes"].get<double>(), 100e9);
  }
  EXPECT_THAT(mneme({"plan", "demo", "--scale", "smoke"}).out, HasSubstr(" MiB measured here"));
}

// It took all memory of the machine, or ended with an error without a plan.
TEST_F(FirstDay, APlanOfAModelThatCannotFitIsMadeWithoutTryingIt) {
  const ProcessResult plan = mneme({"plan", "demo", "--scale", "smoke", "model.width=65536", "model.layers=64"});
  EXPECT_EQ(plan.exit_code, 0);
  EXPECT_THAT(plan.out, HasSubstr("4 (4 new); 4 to run"));
  EXPECT_THAT(plan.out, HasSubstr("not measured:"));
  EXPECT_THAT(plan.err, HasSubstr("GiB of memory"));
}

// An empty word trained the default, --scale alone was passed over, and directories were called unknown studies.
TEST_F(FirstDay, SmallSlipsAreErrors) {
  sample.add_done({});
  const std::string directory = sample.lab.root().string();
  for (const auto& [arguments, said] : std::vector<std::pair<std::vector<std::string>, std::string>>{
           {{"train", ""}, "got '', expected a file or an override"},
           {{"window", ""}, "got '', expected a file or an override"},
           {{"plan", directory}, "is not a file, expected the name of a study or a TOML file"},
           {{"export", "--scale", "smoke"}, "without --study, expected both"},
           {{"plot", "lr>0", "--scale", "smoke"}, "without --study, expected both"},
           {{"export", "--output", directory}, "is a directory, expected a file"}}) {
    const ProcessResult result = mneme(arguments);
    EXPECT_EQ(result.exit_code, 2) << said;
    EXPECT_THAT(result.err, HasSubstr(said));
  }
  const Path file = sample.directory / "new" / "runs.csv";
  EXPECT_EQ(mneme({"export", "--output", file.string()}).exit_code, 0);
  EXPECT_TRUE(std::filesystem::exists(file)) << "its directory is made";
}

TEST_F(FirstDay, ATrainingOfNothingKnownIsExplained) {
  const ProcessResult result = mneme({"train", "attention"});
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.err, HasSubstr("got 'attention', expected a TOML or JSON file, a run's directory or the first"));
}

}  // namespace
}  // namespace mneme
