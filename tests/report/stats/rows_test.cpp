#include "report/stats/rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "core/error.h"
#include "report/sample_rows.h"

namespace mneme::report {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::sample_row;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

TEST(Rows, AccuracyOfARunThatDivergedIsItsLastFiniteEvaluation) {
  ResultRow row = sample_row("mamba", 1e-2, 1, 0.4, "diverged");
  EXPECT_EQ(counted_validation_accuracy(row), 0.4);
  EXPECT_EQ(counted_test_accuracy(row), 0.4);  // never tested
  row.validation_accuracy = kNaN;
  EXPECT_EQ(counted_validation_accuracy(row), 0);
  EXPECT_EQ(counted_test_accuracy(row), 0);
  row.validation_accuracy.reset();
  EXPECT_EQ(counted_test_accuracy(row), 0);
  row.test_accuracy = 0.7;
  EXPECT_EQ(counted_test_accuracy(row), 0.7);
}

TEST(Rows, ARunIsJudgedByWhatItsTrainingStopsOn) {
  ResultRow row = sample_row("mamba", 1e-2, 1, 0.95);
  row.test_accuracy = 0.96;
  row.values = {{"validation", {{"exact_match", 0.1}}}, {"test", {{"exact_match", 0.2}}}};
  EXPECT_EQ(validation_score(row), 0.95);
  EXPECT_EQ(test_score(row), 0.96);
  EXPECT_EQ(score_name(std::vector{row}), "accuracy");

  row.config["train"]["stop_on"] = "exact_match";
  EXPECT_EQ(validation_score(row), 0.1);
  EXPECT_EQ(test_score(row), 0.2);
  EXPECT_EQ(score_name(std::vector{row}), "whole sequences right");
  row.metrics = {{.step = 1, .accuracy = 0.9, .exact_match = 0.3}, {.step = 2, .accuracy = 0.9, .exact_match = kNaN}};
  EXPECT_EQ(validation_score(row), 0.3);
  EXPECT_EQ(score_of(row, row.metrics[0]), 0.3);
  row.values = Json::object();
  EXPECT_EQ(test_score(row), 0.3);  // never tested
  row.metrics.clear();
  EXPECT_EQ(test_score(row), 0);
}

TEST(Rows, OnlyRunsThatEndedAreResults) {
  for (const char* outcome : {"done", "diverged", "failed"}) EXPECT_TRUE(is_result(sample_row("m", 1, 1, 0, outcome)));
  for (const char* outcome : {"running", "planned", "cancelled", ""})
    EXPECT_FALSE(is_result(sample_row("m", 1, 1, 0, outcome)));
}

TEST(Rows, AnEmptyValueIsCalledNone) {
  std::vector<ResultRow> rows{sample_row("attention", 1e-3, 1, 1), sample_row("attention", 1e-3, 1, 1)};
  rows[0].config["model"]["attention"]["conv_on"] = "";
  rows[1].config["model"]["attention"]["conv_on"] = "k";
  EXPECT_THAT(series_labels(rows), ElementsAre("attention, conv_on none", "attention, conv_on k"));
  EXPECT_EQ(field_text("model.attention.conv_on", ""), "conv_on none");
}

TEST(Rows, LabelsNameWhatVariesWithinAMixer) {
  std::vector<ResultRow> rows{sample_row("attention", 1e-3, 1, 1), sample_row("attention", 1e-2, 2, 1),
                              sample_row("mamba", 1e-3, 1, 1), sample_row("mamba", 1e-3, 1, 1)};
  rows[3].config["model"]["width"] = 128;
  rows[0].config["model"]["heads"] = 4;  // an option of both attention runs, not a difference
  rows[1].config["model"]["heads"] = 4;
  EXPECT_THAT(series_labels(rows), ElementsAre("attention", "attention", "mamba, width 64", "mamba, width 128"));
}

TEST(Rows, AnOptionThatOneRunLacksIsADifference) {
  std::vector<ResultRow> rows{sample_row("mamba", 1e-3, 1, 1), sample_row("mamba", 1e-3, 1, 1)};
  rows[1].config["model"]["gate"] = true;
  EXPECT_THAT(series_labels(rows), ElementsAre("mamba", "mamba, gate true"));
}

TEST(Rows, WhatFollowsFromAFieldThatIsSetApartIsNotNamed) {
  std::vector<ResultRow> rows;
  for (const int length : {32, 64})
    for (const char* conv : {"k", "q"}) {
      rows.push_back(sample_row("attention", 1e-3, 1, 1));
      rows.back().config["task"]["length"] = length;
      rows.back().config["train"]["batch"] = 4096 / length;
      rows.back().config["model"]["conv"] = conv;
    }
  const std::vector<std::string> apart{"task.length"};
  EXPECT_THAT(series_labels(rows, apart),
              ElementsAre("attention, conv k", "attention, conv q", "attention, conv k", "attention, conv q"));
  rows.push_back(rows[3]);
  rows[4].config["train"]["batch"] = 1;
  EXPECT_EQ(series_labels(rows, apart)[4], "attention, conv q, batch 1");
}

TEST(Rows, WhatFollowsFromAnotherFieldIsNotNamed) {
  std::vector<ResultRow> rows;
  for (const int width : {16, 32}) {
    rows.push_back(sample_row("attention", 1e-3, 1, 1));
    rows.back().config["model"]["width"] = width;
    rows.back().config["model"]["embed_width"] = width;
  }
  EXPECT_THAT(series_labels(rows), ElementsAre("attention, width 16", "attention, width 32"));
  rows.push_back(rows[1]);
  rows[2].config["model"]["embed_width"] = 8;
  EXPECT_EQ(series_labels(rows)[2], "attention, embed_width 8, width 32");
}

TEST(Rows, FieldsAreNamedAsAPersonWould) {
  EXPECT_EQ(field_text("task.length", 64), "length 64");
  EXPECT_EQ(field_text("model.layers", 1), "1 layer");
  EXPECT_EQ(field_text("task.name", "copying"), "copying");
  EXPECT_EQ(field_text("model.attention.conv", "k"), "conv k");
}

TEST(Rows, MixerMayBeATable) {
  ResultRow row = sample_row("x", 1e-3, 1, 1);
  row.config["model"]["mixer"] = {{"name", "hyena"}, {"order", 2}};
  EXPECT_EQ(mixer_name(row), "hyena");
}

TEST(Rows, MissingOrImpossibleConfigNamesTheRun) {
  ResultRow row = sample_row("mamba", 1e-3, 1, 1);
  row.run = "abc123";
  for (const Json& rate : {Json("fast"), Json(0.0), Json(-1.0), Json(nullptr)}) {
    row.config["train"]["lr"] = rate;
    try {
      learning_rate(row);
      ADD_FAILURE() << rate;
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), HasSubstr("run abc123"));
      EXPECT_THAT(error.what(), HasSubstr("train.lr"));
    }
  }
  row.config = Json::object();
  EXPECT_THROW(learning_rate(row), Error);
  EXPECT_THROW(mixer_name(row), Error);
  EXPECT_EQ(seed_text(row), "");
}

TEST(Rows, SetupLineHasWhatAllShare) {
  std::vector<ResultRow> rows = testing::three_mixers();
  EXPECT_EQ(setup_line(rows), "MQAR, length 32, 4 pairs, vocabulary 64; 2 layers, width 64");
  rows[0].config["model"]["width"] = 128;
  EXPECT_EQ(setup_line(rows), "MQAR, length 32, 4 pairs, vocabulary 64; 2 layers");
  for (ResultRow& row : rows) row.config["model"]["layers"] = 1;
  EXPECT_EQ(setup_line(rows), "MQAR, length 32, 4 pairs, vocabulary 64; 1 layer");
  EXPECT_EQ(setup_line({}), "");
}

}  // namespace
}  // namespace mneme::report
