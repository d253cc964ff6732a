#include "report/claims/claims.h"

#include <gtest/gtest.h>

#include <set>

#include "report/claims/judging.h"
#include "report/stats/result_file.h"

namespace mneme::report {
namespace {

const Claim& claim(std::string_view id) {
  for (const Claim& one : claim_list())
    if (one.id == id) return one;
  throw std::runtime_error("no claim " + std::string(id));
}

// A run that ended; its id is its number.
class Rows {
 public:
  ResultRow& add(Json model, double lr, int seed, double accuracy) {
    ResultRow row;
    row.run = std::to_string(rows_.size());
    row.config = {{"task", {{"name", "mqar"}, {"length", 16}}},
                  {"model", std::move(model)},
                  {"train", {{"lr", lr}, {"seed", seed}}}};
    row.outcome = "done";
    row.validation_accuracy = row.test_accuracy = accuracy;
    rows_.push_back(row);
    return rows_.back();
  }
  // Three seeds at each rate, solved from `lo` to `hi`.
  void window(const std::string& mixer, double lo, double hi) {
    for (const double lr : {1e-4, 4.64159e-4, 1e-3, 4.64159e-3, 1e-2, 4.64159e-2})
      for (const int seed : {1, 2, 3}) add({{"mixer", mixer}}, lr, seed, lr >= lo && lr <= hi ? 0.99 : 0.3);
  }
  Judgement judge(std::string_view id) const { return report::judge(claim(id), rows_, rows_.size()); }
  const std::vector<ResultRow>& all() const { return rows_; }

 private:
  std::vector<ResultRow> rows_;
};

TEST(Claims, HaveDifferentIdsAndSayWhatTheyAre) {
  std::set<std::string> ids;
  for (const Claim& one : claim_list()) {
    EXPECT_TRUE(ids.insert(one.id).second) << one.id;
    EXPECT_TRUE(one.study.starts_with(one.id[0] == 'A' ? "recall/" : "memory/")) << one.id;
    EXPECT_FALSE(one.statement.empty() || one.rule.empty() || one.where.empty()) << one.id;
    EXPECT_NE(one.statement.back(), '.') << one.id;
  }
}

TEST(Claims, NoneIsDecidedWithoutRuns) {
  for (const Claim& one : claim_list()) {
    EXPECT_EQ(one.judge(Evidence({})).verdict, Verdict::not_enough_runs) << one.id;
    EXPECT_EQ(judge(one, {}, 0).verdict, Verdict::not_enough_runs) << one.id;
  }
}

TEST(Claims, WiderWindowIsConfirmedAndContradicted) {
  Rows wide;
  wide.window("attention", 4e-4, 2e-2);
  wide.window("mamba", 9e-3, 1.1e-2);
  EXPECT_EQ(wide.judge("A.window-mamba").verdict, Verdict::confirmed);
  EXPECT_NE(wide.judge("A.window-mamba").numbers.find("attention 1.33 decades"), std::string::npos)
      << wide.judge("A.window-mamba").numbers;
  Rows narrow;
  narrow.window("attention", 9e-3, 1.1e-2);
  narrow.window("mamba", 4e-4, 2e-2);
  EXPECT_EQ(narrow.judge("A.window-mamba").verdict, Verdict::contradicted);
  Rows equal;
  equal.window("attention", 4e-4, 2e-2);
  equal.window("mamba", 4e-4, 2e-2);
  EXPECT_EQ(equal.judge("A.window-mamba").verdict, Verdict::contradicted);
}

TEST(Claims, AWindowThatDoesNotExistIsNotCompared) {
  Rows rows;
  rows.window("attention", 4e-4, 2e-2);
  rows.window("mamba", 1, 2);
  EXPECT_EQ(rows.judge("A.window-mamba").verdict, Verdict::not_enough_runs);
}

TEST(Claims, HalfAGridOrTwoSeedsAreNotEnough) {
  Rows rows;
  rows.window("attention", 4e-4, 2e-2);
  rows.window("mamba", 9e-3, 1.1e-2);
  EXPECT_EQ(judge(claim("A.window-mamba"), rows.all(), rows.all().size() + 1).verdict, Verdict::not_enough_runs);
  Rows two;
  for (const std::string mixer : {"attention", "mamba"})
    for (const int seed : {1, 2}) two.add({{"mixer", mixer}}, 1e-3, seed, 0.99);
  EXPECT_EQ(two.judge("A.window-mamba").verdict, Verdict::not_enough_runs);
}

TEST(Claims, CoarseGridMissesANarrowWindow) {
  Rows rows;
  rows.window("attention", 4e-4, 2e-2);
  rows.window("hyena", 4e-3, 5e-3);  // between two of Zoology's rates
  rows.window("mamba", 9e-3, 1.1e-2);
  EXPECT_EQ(rows.judge("A.coarse-grid").verdict, Verdict::confirmed);
  Rows seen;
  for (const std::string mixer : {"attention", "hyena", "mamba"}) seen.window(mixer, 9e-3, 1.1e-2);
  EXPECT_EQ(seen.judge("A.coarse-grid").verdict, Verdict::contradicted);
}

Rows ablation(double causal_on_values) {
  Rows rows;
  for (const int seed : {1, 2, 3}) {
    const auto attention = [](const std::string& on, const std::string& pad) {
      return Json{{"mixer", "attention"}, {"attention", {{"conv_on", on}, {"conv_pad", pad}}}};
    };
    rows.add(attention("", "causal"), 1e-2, seed, 0.25);
    rows.add(attention("k", "causal"), 1e-2, seed, 0.99);
    rows.add(attention("v", "causal"), 1e-2, seed, causal_on_values);
    rows.add(attention("v", "same"), 1e-2, seed, 0.99);
  }
  return rows;
}

TEST(Claims, ConvolutionsAreToldApart) {
  EXPECT_EQ(ablation(0.25).judge("A.conv-none").verdict, Verdict::confirmed);
  EXPECT_EQ(ablation(0.25).judge("A.conv-k").verdict, Verdict::confirmed);
  EXPECT_EQ(ablation(0.25).judge("A.conv-v").verdict, Verdict::contradicted);
  EXPECT_EQ(ablation(0.99).judge("A.conv-v").verdict, Verdict::confirmed);
  EXPECT_EQ(ablation(0.25).judge("A.conv-v-ahead").verdict, Verdict::confirmed);
  EXPECT_EQ(ablation(0.25).judge("A.conv-q").verdict, Verdict::not_enough_runs);
}

TEST(Claims, WidthThatSolvesEverythingSaysNothing) {
  const auto widths = [](double narrow, double wide) {
    Rows rows;
    for (const int seed : {1, 2, 3}) {
      rows.add({{"mixer", "mamba"}, {"width", 16}}, 1e-2, seed, narrow);
      rows.add({{"mixer", "mamba"}, {"width", 64}}, 1e-2, seed, wide);
    }
    return rows.judge("A.width-mamba").verdict;
  };
  EXPECT_EQ(widths(0.3, 0.9), Verdict::confirmed);
  EXPECT_EQ(widths(0.3, 0.3), Verdict::contradicted);
  EXPECT_EQ(widths(0.99, 0.99), Verdict::not_enough_runs);
}

// One model trained up to 8 and tested at 8, 16 and 32.
void add_tracker(Rows& rows, const std::string& mixer, double at_16) {
  for (const int seed : {1, 2, 3}) {
    ResultRow& row = rows.add({{"mixer", mixer}, {"layers", 1}}, 1e-3, seed, 0.99);
    row.config["task"] = {{"name", "state_tracking"}, {"group", "A5"}, {"length", 8}};
    row.config["test"] = {{"along", "length"}};
    Json points = Json::array();
    for (const auto& [length, value] : {std::pair{8, 0.99}, {16, at_16}, {32, 0.1}})
      points.push_back({{"value", length}, {"accuracy", value}, {"exact_match", value}});
    row.values["generalisation"] = {{"axis", "length"}, {"points", points}};
  }
}

TEST(Claims, ExtrapolationIsReadFromTheSummaries) {
  Rows rows;
  for (const std::string mixer : {"rnn", "lstm", "gru", "nru"}) add_tracker(rows, mixer, 0.95);
  for (const std::string mixer : {"transformer", "s4d", "mamba", "ids4"}) add_tracker(rows, mixer, 0.2);
  EXPECT_EQ(rows.judge("B.non-linear").verdict, Verdict::confirmed) << rows.judge("B.non-linear").numbers;
  EXPECT_EQ(rows.judge("B.parallel").verdict, Verdict::confirmed) << rows.judge("B.parallel").numbers;
  EXPECT_EQ(rows.judge("B.limits").verdict, Verdict::confirmed) << rows.judge("B.limits").numbers;
  Rows other;
  for (const std::string mixer : {"rnn", "lstm", "gru", "nru"}) add_tracker(other, mixer, 0.2);
  for (const std::string mixer : {"transformer", "s4d", "mamba", "ids4"}) add_tracker(other, mixer, 0.95);
  EXPECT_EQ(other.judge("B.non-linear").verdict, Verdict::contradicted);
  EXPECT_EQ(other.judge("B.parallel").verdict, Verdict::contradicted);
}

TEST(Claims, PhaseTestsNeedThreeOfFiveSeedsAtEverySize) {
  const auto verdict = [](int passing) {
    Rows rows;
    for (const int width : {8, 64})
      for (const int seed : {1, 2, 3, 4, 5}) {
        ResultRow& row = rows.add({{"mixer", "s4d"}, {"layers", 1}, {"width", width}}, 1e-3, seed, 0.9);
        row.values["phases"] = {{"offset_passed", width == 8 || seed <= passing}};
      }
    return rows.judge("B.count-s4d").verdict;
  };
  EXPECT_EQ(verdict(3), Verdict::confirmed);
  EXPECT_EQ(verdict(2), Verdict::contradicted);
}

TEST(Claims, ADivergedRunCountsAsNotPassed) {
  Rows rows;
  for (const int seed : {1, 2, 3}) {
    ResultRow& row = rows.add({{"mixer", "mamba"}, {"layers", 1}, {"width", 8}}, 1e-3, seed, 0.9);
    row.outcome = "diverged";
  }
  EXPECT_EQ(rows.judge("B.count-mamba-1").verdict, Verdict::confirmed);
}

}  // namespace
}  // namespace mneme::report
