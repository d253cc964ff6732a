#include "report/pages/paper_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/app_testing.h"
#include "report/pages/study_files.h"
#include "report/stats/result_file.h"

namespace mneme::report {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// Results as a sweep would keep them: every run of the item has ended.
void keep_results(const Path& directory, const Reproduction& item, const std::string& scale) {
  std::vector<ResultRow> rows;
  for (const config::RunConfig& run : open_study(item.study, {scale, {}}).runs) {
    ResultRow row;
    row.run = run.id;
    row.config = run.json();
    row.outcome = "done";
    row.validation_accuracy = row.test_accuracy = 0.5;
    rows.push_back(row);
  }
  file_system().create_directories(directory);
  write_file_atomically(directory / (item.id + "." + scale + ".jsonl"), write_results(rows));
}

TEST(PaperReport, EveryItemHasALineAndASection) {
  for (const char* letter : {"A", "B"}) {
    const Paper& paper = find_paper(letter);
    std::vector<ReproductionState> states;
    for (const Reproduction* item : reproductions_of(paper))
      states.push_back(state_in_files(*item, "smoke", "nowhere"));
    EXPECT_GE(states.size(), 10U);
    const std::string page = render_page(paper_page(paper, "smoke", states));
    for (const ReproductionState& state : states) {
      EXPECT_THAT(page, HasSubstr("<a href=\"#" + state.item->id + "\">")) << state.item->id;
      EXPECT_THAT(page, HasSubstr("id=\"" + state.item->id + "\"")) << state.item->id;
    }
    EXPECT_THAT(page, HasSubstr(paper.title));
  }
}

TEST(PaperReport, ShowsFiguresClaimsAndRunsOfWhatHasEnded) {
  const testing::TemporaryDirectory directory;
  const Reproduction& item = find_reproduction("A.table3");
  keep_results(directory / "kept", item, "smoke");
  const std::vector<ReproductionState> states = {
      state_in_files(item, "smoke", directory / "kept"),
      state_in_files(find_reproduction("A.fig1"), "smoke", directory / "kept")};
  const Table summary = paper_summary(states);
  EXPECT_EQ(summary.rows[0][1], fmt::format("{0} of {0}", states[0].planned));
  EXPECT_EQ(summary.rows[1][1], fmt::format("0 of {}", states[1].planned));
  EXPECT_EQ(summary.rows[0][4], std::to_string(states[0].claims().size())) << "one seed is not enough for a verdict";
  const std::string page = render_page(paper_page(find_paper("A"), "smoke", states));
  EXPECT_THAT(page, HasSubstr("data-figure=\"figure-1\""));
  EXPECT_THAT(page, Not(HasSubstr("data-figure=\"figure-2\"")));
  EXPECT_THAT(page, HasSubstr("A.conv-qkv"));
  EXPECT_THAT(page, HasSubstr(states[0].rows.front().run));
  EXPECT_THAT(page, HasSubstr("from a file of kept results"));
  EXPECT_THAT(page, HasSubstr("mneme reproduce A.fig1 --scale smoke"));
}

TEST(PaperReport, KeptResultsStandInForRunsThatTheLabHasNot) {
  const testing::SampleLab sample;
  const Reproduction& item = find_reproduction("A.table3");
  const Path kept = sample.directory / "kept";
  keep_results(kept, item, "smoke");
  const study::Study study = open_study(item.study, {"smoke", {}});
  const config::RunConfig &done = study.runs[0], &begun = study.runs[1];
  testing::put_summary(sample.lab.run(done.id), done, testing::sample_summary(done, "done", 0.25, 0.25));
  sample.lab.run(begun.id).create(begun.json());
  store::Index index = store::Index::open(sample.lab);
  const ReproductionState state = state_in_both(item, "smoke", sample.lab, &index, kept);
  EXPECT_EQ(state.rows.size(), study.runs.size());
  EXPECT_EQ(state.ended, study.runs.size());
  EXPECT_EQ(state.kept, study.runs.size() - 1);
  for (const ResultRow& row : state.rows) EXPECT_EQ(row.test_accuracy, row.run == done.id ? 0.25 : 0.5) << row.run;
}

class AppPaperReport : public testing::AppTest {};

TEST_F(AppPaperReport, WritesOnePage) {
  const Path kept = sample.directory / "kept";
  keep_results(kept, find_reproduction("A.table3"), "smoke");
  const Json report = json({"report", "--paper", "A", "--scale", "smoke", "--results", kept.string()});
  EXPECT_EQ(report["items"].size(), reproductions_of(find_paper("A")).size());
  const Path page = sample.lab.reports() / "paper-A-smoke" / "report.html";
  EXPECT_EQ(report["page"], page.string());
  EXPECT_THAT(read_file(page), HasSubstr("What lets one layer solve MQAR"));
  EXPECT_THAT(mneme({"report", "--paper", "A", "--scale", "smoke"}).out, HasSubstr("A.table3"));
}

TEST_F(AppPaperReport, BadInputIsTold) {
  EXPECT_THAT(mneme({"report", "--paper", "C"}).err, HasSubstr("expected A or B"));
  EXPECT_EQ(mneme({"report", "--paper", "A", "demo"}).exit_code, 2);
  EXPECT_EQ(mneme({"report", "--paper", "A", "--scale", "huge"}).exit_code, 2);
  EXPECT_EQ(mneme({"report", "--paper", "A", "--results", "nowhere"}).exit_code, 2);
  EXPECT_EQ(mneme({"report", "demo", "--results", "results"}).exit_code, 2);
}

}  // namespace
}  // namespace mneme::report
