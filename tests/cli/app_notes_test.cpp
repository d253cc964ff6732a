// Tags, notes and curves of chosen runs.
#include <gmock/gmock.h>

#include "cli/app_testing.h"
#include "core/text.h"
#include "store/run_notes.h"

namespace mneme {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::joined;
using testing::kTiny;
using ::testing::Not;

class AppNotes : public testing::AppTest {};

TEST_F(AppNotes, RunsAreTaggedFoundAndUntagged) {
  const std::string first = sample.add_done({"train.lr=0.001"}), second = sample.add_done({"train.lr=0.002"});
  EXPECT_THAT(mneme({"tag"}).out, HasSubstr("no run is tagged"));
  EXPECT_THAT(mneme({"tag", "baseline", first.substr(0, 6)}).out, HasSubstr("1 run tagged 'baseline'"));
  EXPECT_THAT(mneme({"tag", "baseline", "lr>=0.001"}).out, HasSubstr("1 run tagged 'baseline'; 1 has it already"));
  EXPECT_EQ(json({"tag"})["tags"], (Json{{"baseline", 2}}));
  EXPECT_THAT(mneme({"tag", "--remove", "baseline", second}).out, HasSubstr("1 run lost the tag 'baseline'"));
  const Json runs = json({"runs", "tag=baseline"});
  EXPECT_EQ(runs["matching"], 1);
  EXPECT_EQ(runs["runs"][0]["id"], first);
  EXPECT_EQ(runs["runs"][0]["tags"], Json::array({"baseline"}));
  EXPECT_THAT(mneme({"runs"}).out, HasSubstr("baseline"));
  EXPECT_THAT(mneme({"show", first}).out, HasSubstr("  tags: baseline\n"));
  EXPECT_THAT(mneme({"export", "--format", "csv"}).out, HasSubstr(",tags"));
  EXPECT_EQ(json({"train", first, "--print-config"})["id"], first) << "a tag is no part of the id";
}

TEST_F(AppNotes, WrongTagsAreExplained) {
  sample.add_done({"train.lr=0.001"});
  for (const auto& [arguments, hint] : std::vector<std::pair<std::vector<std::string>, std::string>>{
           {{"tag", "a b", "mixer=attention"}, "letters, digits"},
           {{"tag", "good"}, "no runs selected"},
           {{"tag", "--remove"}, "letters, digits"},
           {{"tag", "good", "ffffff"}, "no run starts with 'ffffff'"},
           {{"runs", "tag=good"}, "no run has one yet"},
       }) {
    const ProcessResult result = mneme(arguments);
    EXPECT_EQ(result.exit_code, 2) << result.out;
    EXPECT_THAT(result.err, HasSubstr(hint));
  }
}

TEST_F(AppNotes, ANoteIsWrittenShownFoundAndRemoved) {
  const std::string id = sample.add_done({"train.lr=0.001"});
  EXPECT_THAT(mneme({"note", id}).out, HasSubstr("no note"));
  EXPECT_EQ(mneme({"note", id, "a", "spike at step 900"}).exit_code, 0);
  EXPECT_EQ(json({"note", id})["note"], "a spike at step 900");
  EXPECT_THAT(mneme({"show", id}).out, HasSubstr("  note: a spike at step 900\n"));
  EXPECT_EQ(json({"runs", "note=SPIKE"})["matching"], 1);
  EXPECT_EQ(json({"runs", "note=other"})["matching"], 0);
  EXPECT_EQ(mneme({"note", id, "x", "--remove"}).exit_code, 2);
  EXPECT_EQ(mneme({"note", id, "--remove"}).exit_code, 0);
  EXPECT_EQ(json({"note", id})["note"], "");
}

TEST_F(AppNotes, NotesOutliveTheResults) {
  const std::string id = sample.add_done({"train.lr=0.001"});
  ASSERT_EQ(mneme({"tag", "good", id}).exit_code, 0);
  ASSERT_EQ(mneme({"retry", "--done", "--yes", id}).exit_code, 0);
  EXPECT_THAT(store::read_notes(sample.lab.run(id)).tags, ElementsAre("good"));
}

TEST_F(AppNotes, CurvesOfChosenRunsAreDrawnOverEachOther) {
  std::string id;
  for (const char* rate : {"train.lr=0.001", "train.lr=0.01"})
    id = json(joined({"train", "train.eval_every=1", rate}, kTiny))["id"];
  const Json plot = json({"plot", "lr>0", "--output", (sample.directory / "curves.png").string()});
  ASSERT_EQ(plot["runs"].size(), 2u);
  EXPECT_EQ(plot["runs"][id], "attention, rate 1e-2");
  const Json figure = parse_json(read_file(sample.directory / "curves.vl.json"), "figure");
  EXPECT_EQ(figure["vconcat"].size(), 2u) << "loss and accuracy";
  EXPECT_EQ(figure["datasets"]["curves"].size(), 2u * 2u * 5u) << "runs, metrics, evaluations";
  const std::string csv = read_file(sample.directory / "curves.csv");
  EXPECT_THAT(csv, ::testing::StartsWith("run,label,step,loss,accuracy\r\n"));
  EXPECT_EQ(split(csv, '\n').size(), 1u + 2u * 5u + 1u);
  EXPECT_THAT(mneme({"plot", id, "--metric", "gradient_norm", "--log"}).out, HasSubstr(".vl.json"));
  const ProcessResult wrong = mneme({"plot", id, "--metric", "los"});
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_THAT(wrong.err, HasSubstr("did you mean 'loss'?"));
  EXPECT_EQ(mneme({"plot"}).exit_code, 2);
}

TEST_F(AppNotes, DynamicsOfEveryRate) {
  for (const char* rate : {"train.lr=0.001", "train.lr=0.01"})
    json(joined({"train", "train.eval_every=1", rate}, kTiny));
  const Json best = json({"report", "mixer=attention", "--kind", "dynamics"}),
             all = json({"report", "mixer=attention", "--kind", "dynamics", "--all-rates"});
  EXPECT_EQ(best["figures"][0]["series"].size(), 1u);
  EXPECT_EQ(all["figures"][0]["series"].size(), 2u);
  EXPECT_NE(best["page"], all["page"]) << "one report does not overwrite another";
  const ProcessResult wrong = mneme({"report", "mixer=attention", "--all-rates"});
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_THAT(wrong.err, HasSubstr("expected --kind dynamics"));
}

}  // namespace
}  // namespace mneme
