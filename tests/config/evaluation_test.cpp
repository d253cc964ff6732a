#include "config/evaluation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/expect_error.h"

namespace mneme::config {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

RunConfig from(const std::string& toml) { return resolve_run(parse_toml(toml, "run.toml")); }

std::vector<EvaluationPoint> plan(const RunConfig& run, const std::string& along, std::vector<std::int64_t> values,
                                  const Json& task = Json::object(), ReadingChoice reading = ReadingChoice::automatic) {
  return plan_evaluation(run, {.task = task, .along = along, .values = std::move(values), .reading = reading}, true);
}

template <typename Action>
std::string refused(Action&& action) {
  return testing::error_of(ErrorKind::usage, std::forward<Action>(action));
}

TEST(Evaluation, ValuesOfAnAxisAreWrittenInThreeWays) {
  EXPECT_THAT(parse_axis_values("128,64,64"), ElementsAre(64, 128));
  EXPECT_THAT(parse_axis_values("64..6400x2"), ElementsAre(64, 128, 256, 512, 1024, 2048, 4096, 6400));
  EXPECT_THAT(parse_axis_values("64..256x2"), ElementsAre(64, 128, 256));
  EXPECT_THAT(parse_axis_values("10..35+10"), ElementsAre(10, 20, 30, 35));
  EXPECT_THAT(parse_axis_values("7..7x2"), ElementsAre(7));
  EXPECT_EQ(parse_axis_values("1..9223372036854775807x10").back(), 9223372036854775807);
  for (const char* wrong :
       {"", "a", "64..", "64..128", "64..32x2", "64..128x1", "0..8x2", "1..9+0", "1..1000000+1", "6 4"})
    EXPECT_THAT(refused([&] { parse_axis_values(wrong); }), HasSubstr("--along: got '")) << wrong;
}

TEST(Evaluation, FollowsTheAxisAndLeavesTheRestAsInTraining) {
  const RunConfig run = from("task = { length = 64, pairs = 4, vocab = 2000 }\nmodel.mixer = 'gru'\n");
  const auto points = plan(run, "length", {64, 128}, {{"pairs", 8}});
  ASSERT_EQ(points.size(), 2U);
  EXPECT_EQ(points[1].value, 128);
  EXPECT_EQ(points[1].run.shape.length, 128);
  EXPECT_EQ(points[1].run.task.integer("pairs"), 8);
  EXPECT_EQ(points[1].run.task.integer("vocab"), 2000);
  EXPECT_EQ(points[1].run.train.integer("data_seed"), run.train.integer("data_seed"));
  // An option that the task does not list as an axis, and the axis's own values.
  EXPECT_EQ(plan(run, "pairs", {2})[0].run.task.integer("pairs"), 2);
  EXPECT_EQ(plan(run, "length", {}).size(), run.task_entry->axes[0].values.size());
  EXPECT_FALSE(plan(run, "", {})[0].value.has_value());
}

TEST(Evaluation, LongSequencesAreReadTokenByTokenWhereTheStateDoesNotGrow) {
  const std::string task = "task = { name = 'induction', length = 64 }\n";
  const auto points = plan(from(task + "model.mixer = 'gru'\n"), "length", {64, 16384, 1000000});
  EXPECT_EQ(points[0].reading, Reading::whole);
  EXPECT_EQ(points[1].reading, Reading::whole);
  EXPECT_EQ(points[2].reading, Reading::stepwise);
  EXPECT_EQ(points[2].run.train.integer("micro_batch"), 8) << "eight million tokens at a time";
  EXPECT_EQ(points[2].examples, 8) << "fewer where sequences are long";
  EXPECT_EQ(points[0].examples, 1000);
  const RunConfig attention = from(task + "model = { mixer = 'attention', positions = 'sinusoidal' }\n");
  EXPECT_EQ(plan(attention, "length", {1000000})[0].reading, Reading::whole) << "its cache grows";
  EXPECT_EQ(plan(attention, "length", {128}, Json::object(), ReadingChoice::stepwise)[0].reading, Reading::stepwise);
  EXPECT_THAT(refused([&] {
                plan_evaluation(attention, {.along = {}, .values = {}, .reading = ReadingChoice::stepwise}, false);
              }),
              HasSubstr("no recurrent form"));
}

TEST(Evaluation, FiltersOfFixedLengthSayWhatTheyDo) {
  const std::string task = "task = { name = 'induction', length = 64 }\n";
  const RunConfig s4 = from(task + "model.mixer = 's4'\n");
  EXPECT_THAT(plan(s4, "length", {64})[0].notes, IsEmpty());
  const EvaluationPoint longer = plan(s4, "length", {1000000})[0];
  EXPECT_THAT(longer.notes, ElementsAre("s4: its filter has the 64 steps of training; it forgets what is older"));
  EXPECT_EQ(longer.reading, Reading::whole) << "its recurrence is that of a filter without an end";
  EXPECT_THAT(refused([&] { plan(s4, "length", {128}, Json::object(), ReadingChoice::stepwise); }),
              HasSubstr("beyond its training"));
  EXPECT_THAT(refused([&] { plan(from(task + "model.mixer = 'hyena'\n"), "length", {128}); }),
              HasSubstr("length = 128: 128 steps, but hyena has parameters for 64 steps"));
}

TEST(Evaluation, WhatTheTaskOrTheModelHasNotIsRefused) {
  const RunConfig run = from("task = { length = 64, pairs = 4, vocab = 200 }\nmodel.positions = 'learned'\n");
  EXPECT_THAT(refused([&] { plan(run, "lenght", {64}); }),
              HasSubstr("mqar has no axis 'lenght', expected one of length"));
  EXPECT_THAT(refused([&] { plan(run, "length", {128}); }),
              HasSubstr("length = 128: 128 steps, but its learned positions (model.max_positions) end at 64"));
  EXPECT_THAT(refused([&] { plan(run, "vocab", {300}); }), HasSubstr("expected no more than the 200"));
  EXPECT_THAT(refused([&] { plan(run, "vocab", {40}); }), HasSubstr("the task cannot be built with vocab = 40"));
  EXPECT_THAT(refused([&] { plan(run, "length", {-2}); }), HasSubstr("task.length"));
  EXPECT_THAT(refused([&] { plan(run, "", {}, {{"blanks", 3}}); }), HasSubstr("unknown key 'blanks'"));
  EXPECT_THAT(refused([&] { parse_reading("fast"); }), HasSubstr("expected auto, forward or step"));
}

}  // namespace
}  // namespace mneme::config
