#include "report/claims/reproduction_state.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "core/error.h"
#include "core/files.h"
#include "report/pages/study_files.h"
#include "support/places.h"

namespace mneme::report {
namespace {

TEST(Reproductions, HaveDifferentNamesAndAStudyEach) {
  std::set<std::string> names, known;
  for (const FoundStudy& study : list_studies()) known.insert(study.outline.name);
  for (const Reproduction& item : reproductions()) {
    EXPECT_TRUE(names.insert(item.id).second) << item.id;
    for (const std::string& other : item.also) EXPECT_TRUE(names.insert(other).second) << other;
    EXPECT_TRUE(known.contains(item.study)) << item.study;
  }
}

TEST(Reproductions, EveryClaimIsAboutOneOfThem) {
  std::set<std::string> studies;
  for (const Reproduction& item : reproductions()) studies.insert(item.study);
  for (const Claim& claim : claim_list()) EXPECT_TRUE(studies.contains(claim.study)) << claim.id;
}

TEST(Reproductions, AreFoundByAnyOfTheirNames) {
  EXPECT_EQ(find_reproduction("A.fig12").id, "A.fig3");
  EXPECT_EQ(find_reproduction("B.fig1").id, "B.table3");
  try {
    find_reproduction("A.figg1");
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("did you mean 'A.fig1'"), std::string::npos) << error.what();
  }
}

TEST(Reproductions, WithoutRunsNothingIsDecided) {
  const ReproductionState state = state_in_files(find_reproduction("A.fig1"), "laptop", "no such directory");
  EXPECT_EQ(state.ended, 0U);
  EXPECT_GT(state.planned, 0U);
  ASSERT_FALSE(state.claims().empty());
  for (const JudgedClaim& one : state.claims()) EXPECT_EQ(one.judgement.verdict, Verdict::not_enough_runs);
}

// Table 8 of paper B, by our formulas at the sizes of the study.
TEST(Reproductions, SizesAreCountedWithoutRuns) {
  const ReproductionState state = state_in_files(find_reproduction("B.table8"), "", "");
  std::map<std::string, std::string> counted;
  for (const auto& row : size_table(state.study).rows) counted[row[0] + " " + row[1] + " " + row[2]] = row[3];
  EXPECT_EQ(counted["rnn 1 8"], "99");
  EXPECT_EQ(counted["lstm 1 64"], "17,219");
  EXPECT_EQ(counted["s4d 1 8"], "1,225");
  EXPECT_EQ(counted["mamba 1 64"], "51,393");
}

// What docs/results.md says of a claim is what the kept results say.
TEST(Reproductions, ResultsMdSaysWhatTheKeptResultsSay) {
  const Path root(source_directory());
  const std::string text = read_file(root / "docs/results.md");
  int judged = 0;
  for (const Reproduction& item : reproductions()) {
    const ReproductionState state = state_in_files(item, "laptop", root / "results");
    if (state.ended == 0) continue;
    for (const JudgedClaim& one : state.claims()) {
      const std::string line =
          "| `" + one.claim->id + "` | " + verdict_name(one.judgement.verdict) + " | " + one.judgement.numbers + " |";
      EXPECT_NE(text.find(line), std::string::npos) << line;
      ++judged;
    }
  }
  EXPECT_GT(judged, 0);
}

}  // namespace
}  // namespace mneme::report
