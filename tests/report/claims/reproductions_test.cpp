#include "report/claims/reproduction_state.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "core/error.h"
#include "core/files.h"
#include "report/claims/scales.h"
#include "report/pages/card.h"
#include "report/pages/kept_results.h"
#include "report/pages/results_page.h"
#include "report/pages/study_files.h"
#include "support/places.h"
#include "support/temporary_directory.h"

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
  for (const Reproduction& item : reproductions()) {
    if (item.sizes) continue;
    const ReproductionState state = state_in_files(item, "laptop", "no such directory");
    EXPECT_EQ(state.ended, 0U);
    EXPECT_GT(state.planned, 0U);
    EXPECT_FALSE(state.claims().empty()) << item.id;
    for (const JudgedClaim& one : state.claims())
      EXPECT_EQ(one.judgement.verdict, Verdict::not_run) << item.id << ": " << one.claim->id;
  }
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

// Every number of docs/results.md that is marked, and every verdict, is what the kept results say.
TEST(Reproductions, ResultsMdSaysWhatTheKeptResultsSay) {
  const Path root(source_directory());
  const std::string text = read_file(root / "docs/results.md");
  EXPECT_EQ(fill_results_page(text, root / "results"), text)
      << "to fill the marks: mneme reproduce --results results --page docs/results.md";
  for (const Reproduction& item : reproductions())
    for (const std::string& scale : kept_scales(item, root / "results")) {
      if (state_in_files(item, scale, root / "results").ended == 0) continue;
      EXPECT_NE(text.find("<!-- verdicts " + item.id + " " + scale + " -->"), std::string::npos)
          << "kept results without their verdicts on the page: " << item.id << " " << scale;
    }
}

// The tables of docs/card.md are those of the cards that ship, which are of the present version.
TEST(Reproductions, CardMdSaysWhatTheShippedCardsSay) {
  const Path root(source_directory());
  const std::string text = read_file(root / "docs/card.md");
  EXPECT_EQ(fill_results_page(text, root / "results"), text)
      << "to fill the marks: mneme reproduce --results results --page docs/card.md";
  const std::size_t shipped = shipped_cards("standard").size();
  EXPECT_GE(shipped, 12u);
  EXPECT_EQ(shipped, cards_in(root / "results/card", "standard").size());
}

// A page whose number is not that of the data is caught.
TEST(Reproductions, AWrongNumberOnThePageIsFound) {
  const testing::TemporaryDirectory scratch;
  const study::Study study = open_study("memory/ids4", {"smoke", {}});
  std::vector<ResultRow> rows;
  for (const config::RunConfig& run : study.runs) {
    ResultRow& row = rows.emplace_back();
    row.run = run.id;
    row.config = run.json();
    row.outcome = "done";
    row.validation_accuracy = row.test_accuracy = 0.5;
  }
  keep_results(kept_file(scratch.path(), "B.ids4", "smoke"), rows);
  const std::string right =
      "got <!-- n B.ids4 smoke test task.length=4 -->50.0<!-- end --> % of "
      "<!-- n B.ids4 smoke runs -->2<!-- end --> runs\n";
  EXPECT_EQ(fill_results_page(right, scratch.path()), right);
  std::string wrong = right;
  wrong.replace(wrong.find("50.0"), 4, "51.0");
  EXPECT_EQ(fill_results_page(wrong, scratch.path()), right);
  EXPECT_THROW(fill_results_page("<!-- n B.ids4 smoke colour -->1<!-- end -->", scratch.path()), Error);
  EXPECT_THROW(fill_results_page("<!-- n B.ids4 smoke runs -->2", scratch.path()), Error);
}

}  // namespace
}  // namespace mneme::report
