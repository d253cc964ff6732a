// `mneme reproduce`: the figures and tables of the papers, from the list to a verdict.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/app_testing.h"
#include "report/claims/reproductions.h"
#include "report/pages/kept_results.h"
#include "report/pages/study_files.h"
#include "support/places.h"
#include "support/slow.h"

namespace mneme::cli {
namespace {

using ::testing::HasSubstr;

class AppReproduce : public testing::AppTest {};

TEST_F(AppReproduce, ListsEveryItemWithItsState) {
  const Json items = json({"reproduce"})["items"];
  EXPECT_EQ(items.size(), report::reproductions().size());
  for (const Json& item : items) EXPECT_EQ(item["ended"], 0) << item;
  EXPECT_THAT(mneme({"reproduce"}).out, HasSubstr("A.fig1"));
}

// A scale that not all studies have was an error of the first that lacks it.
TEST_F(AppReproduce, ListsTheItemsThatHaveAScaleWithTheirVerdicts) {
  const std::string results = source_directory() + "/results";
  const ProcessResult listed = mneme({"reproduce", "--results", results, "--scale", "workstation"});
  ASSERT_EQ(listed.exit_code, 0) << listed.err;
  EXPECT_THAT(listed.out, HasSubstr("A.fig1"));
  EXPECT_THAT(listed.out, ::testing::Not(HasSubstr("A.fig4")));
  EXPECT_THAT(listed.err, HasSubstr("no scale workstation: "));
  EXPECT_THAT(listed.err, HasSubstr("A.fig4"));
  const std::string laptop = mneme({"reproduce", "--results", results}).out;
  EXPECT_THAT(laptop, HasSubstr("B.table4 at scale laptop"));
  EXPECT_THAT(laptop, HasSubstr("B.count-rnn"));
  const ProcessResult wrong = mneme({"reproduce", "--scale", "workstations"});
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_THAT(wrong.err, HasSubstr("unknown scale 'workstations', did you mean 'workstation'?"));
}

TEST_F(AppReproduce, RunsDrawsAndJudgesAnItem) {
  const Path kept = sample.lab.root() / "kept";
  const ProcessResult result = mneme({"reproduce", "B.ids4", "--scale", "smoke", "--save", kept.string()});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("B.ids4: 1 undecided"));
  EXPECT_THAT(read_file(sample.lab.reports() / "memory-ids4-smoke" / "report.html"),
              HasSubstr("IDS4 cannot be trained"));
  // What was kept is judged and drawn again, in a lab that has no runs.
  const ProcessResult again =
      run_process({binary_directory() + "/mneme", "reproduce", "B.ids4", "--scale", "smoke", "--results", kept.string(),
                   "--lab", (sample.lab.root() / "other").string()});
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_THAT(again.out, HasSubstr("B.ids4: 1 undecided"));
  const Json item = json({"reproduce", "B.ids4", "--scale", "smoke"})["items"][0];
  EXPECT_EQ(item["ended"], item["planned"]);
  EXPECT_EQ(item["claims"].size(), 1u);
}

// --results used to hide the lab's runs also from --save and --no-train: what the lab had was never saved.
TEST_F(AppReproduce, SavedResultsAndTheLabsRunsAreReadTogether) {
  const Path kept = sample.lab.root() / "kept";
  const study::Study study = report::open_study("memory/ids4", {"smoke", {}});
  ASSERT_GE(study.runs.size(), 2u);
  const config::RunConfig &saved = study.runs[0], &trained = study.runs[1];
  report::ResultRow row;
  row.run = saved.id;
  row.config = saved.json();
  row.outcome = "done";
  row.validation_accuracy = row.test_accuracy = 0.5;
  report::keep_results(report::kept_file(kept, "B.ids4", "smoke"), std::span(&row, 1));
  testing::put_summary(sample.lab.run(trained.id), trained, testing::sample_summary(trained, "done", 0.25, 0.25));

  const std::vector<std::string> both = {"reproduce", "B.ids4", "--scale", "smoke", "--results", kept.string()};
  EXPECT_EQ(json(both)["items"][0]["ended"], 1) << "--results alone: only what is saved";
  for (const std::vector<std::string>& with : {std::vector<std::string>{"--no-train"}, {"--save", kept.string()}}) {
    std::vector<std::string> command = both;
    command.insert(command.end(), with.begin(), with.end());
    const Json item = json(command)["items"][0];
    EXPECT_EQ(item["ended"], 2) << with[0];
    EXPECT_EQ(item["kept"], 1) << with[0];
  }
  EXPECT_EQ(json(both)["items"][0]["ended"], 2) << "--save has saved the lab's run";
}

// On another machine the lab is empty: what is saved was trained once, and is not trained a second time.
TEST_F(AppReproduce, RunsThatAreSavedAreNotTrainedAgain) {
  const Path kept = sample.lab.root() / "kept", other = sample.lab.root() / "other";
  const std::vector<std::string> first = {"sweep", "memory/ids4", "--scale", "smoke", "--save", kept.string()};
  std::vector<std::string> part = first;
  part.insert(part.end(), {"--max-runs", "1"});
  ASSERT_EQ(mneme(part).exit_code, 0);
  const study::Study study = report::open_study("memory/ids4", {"smoke", {}});
  ASSERT_EQ(report::kept_anywhere(kept, study.runs).size(), 1u);
  // Shared with another figure: found under any name.
  std::filesystem::rename(kept / "B.ids4.smoke.jsonl", kept / "B.other.smoke.jsonl");

  const std::string program = binary_directory() + "/mneme";
  const auto elsewhere = [&](std::vector<std::string> command) {
    command.insert(command.begin(), program);
    command.insert(command.end(), {"--lab", other.string()});
    return run_process(command);
  };
  const ProcessResult rest = elsewhere({"reproduce", "B.ids4", "--scale", "smoke", "--save", kept.string()});
  ASSERT_EQ(rest.exit_code, 0) << rest.err;
  EXPECT_THAT(rest.err, HasSubstr(fmt::format("1 of {} runs saved in", study.runs.size())));
  const store::Lab there(other);
  std::size_t trained = 0;
  for (const config::RunConfig& run : study.runs) trained += there.run(run.id).summary().has_value();
  EXPECT_EQ(trained, study.runs.size() - 1);
  const Json item = json({"reproduce", "B.ids4", "--scale", "smoke", "--results", kept.string()})["items"][0];
  EXPECT_EQ(item["ended"], item["planned"]) << "the shared result is in the item's own file as well";
  // A sweep that has nothing left says so and ends well; --same-code wants results of this program, so it trains.
  const ProcessResult none = elsewhere(first);
  EXPECT_EQ(none.exit_code, 0) << none.err;
  EXPECT_THAT(none.out, HasSubstr(fmt::format("{} done", study.runs.size())));
  std::vector<std::string> again = first;
  again.insert(again.end(), {"--same-code", "--yes"});
  ASSERT_EQ(elsewhere(again).exit_code, 0);
  for (const config::RunConfig& run : study.runs) EXPECT_TRUE(there.run(run.id).summary()) << run.id;
}

TEST_F(AppReproduce, SizesNeedNoRuns) { EXPECT_THAT(mneme({"reproduce", "B.table8"}).out, HasSubstr("51,393")); }

TEST_F(AppReproduce, BadInputIsToldBeforeAnythingRuns) {
  EXPECT_EQ(mneme({"reproduce", "A.fig99"}).exit_code, 2);
  EXPECT_THAT(mneme({"reproduce", "A.fig99"}).err, HasSubstr("unknown figure or table 'A.fig99'"));
  EXPECT_THAT(mneme({"reproduce", "A.fig1", "--scale", "huge"}).err, HasSubstr("huge"));
  EXPECT_THAT(mneme({"reproduce", "--scale", "paper"}).err, HasSubstr("needs the names of figures or tables"));
  EXPECT_EQ(mneme({"reproduce", "A.fig1", "--jobs", "0"}).exit_code, 2);
  EXPECT_EQ(mneme({"reproduce", "A.fig1", "--results", "nowhere"}).exit_code, 2);
}

// Every study end to end at its smallest scale.
TEST_F(AppReproduce, SlowEveryStudyRunsAtScaleSmoke) {
  MNEME_SLOW_TEST();
  const Json items = json({"reproduce", "--scale", "smoke"})["items"];
  EXPECT_EQ(items.size(), report::reproductions().size());
  for (const Json& item : items) {
    EXPECT_EQ(item["ended"], item["planned"]) << item["item"];
    const bool drawn = item.contains("page") && std::filesystem::exists(Path(item["page"].get<std::string>()));
    EXPECT_EQ(drawn, item["planned"] > 0) << item["item"];
  }
}

}  // namespace
}  // namespace mneme::cli
