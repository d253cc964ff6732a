// A trained model on other data, whole and token by token.
#include "train/evaluation.h"

#include <gtest/gtest.h>

#include "core/error.h"
#include "models/initialise.h"
#include "train/trainer.h"

namespace mneme::train {
namespace {

using config::ReadingChoice;

config::RunConfig run_from(const std::string& toml) { return config::resolve_run(parse_toml(toml, "test")); }

// A model as it is drawn: its answers depend on the whole sequence, and none is sure.
std::shared_ptr<models::SequenceModel> drawn(const config::RunConfig& run) {
  auto model = models::build_model(run);
  models::initialise(*model, run, nn::Draw(7));
  return model;
}

Json scores(const config::RunConfig& run, models::SequenceModel& model, ReadingChoice reading, std::int64_t length) {
  const auto points = config::plan_evaluation(
      run, {.along = "length", .values = {length}, .examples = 40, .reading = reading}, model.has_step());
  return evaluate_point(points.at(0), model, false, [] {});
}

void expect_same_answers(const std::string& toml, std::int64_t length) {
  const config::RunConfig run = run_from(toml);
  const auto model = drawn(run);
  const Json whole = scores(run, *model, ReadingChoice::whole, length);
  Json stepwise = scores(run, *model, ReadingChoice::stepwise, length);
  EXPECT_EQ(stepwise["mode"], "step");
  EXPECT_NEAR(stepwise["loss"].get<double>(), whole["loss"].get<double>(), 1e-5 * whole["loss"].get<double>()) << toml;
  for (const char* name : {"mode", "loss"}) stepwise[name] = whole[name];
  EXPECT_EQ(stepwise.dump(), whole.dump()) << toml;
}

TEST(Evaluation, TokenByTokenGivesTheAnswersOfWholeSequences) {
  const std::string task = "[task]\nlength = 16\npairs = 2\nvocab = 64\n[model]\nwidth = 16\n";
  for (const char* mixer : {"gru", "mamba", "rwkv4", "attention", "deltanet"})
    expect_same_answers(task + "mixer = '" + mixer + "'\npositions = '" +
                            (std::string(mixer) == "attention" ? "sinusoidal" : "none") + "'\n",
                        48);
  // Every position is labelled: the head reads more rows than it takes at a time.
  expect_same_answers("[task]\nname = 'cumulative_parity'\nlength = 8\n[model]\nmixer = 'lstm'\nwidth = 16\n", 64);
  expect_same_answers("[task]\nname = 'counting'\nlength = 60\n[model]\nmixer = 'gru'\nwidth = 16\n", 90);
}

TEST(Evaluation, AtTheTrainingLengthItIsTheTestSplit) {
  const config::RunConfig run =
      run_from("[task]\nlength = 16\npairs = 2\nvocab = 24\n[model]\nmixer = 'gru'\nwidth = 16\n");
  const auto model = drawn(run);
  const auto task = run.task_entry->build(run.task);
  const Json test = make_objective(run, *task, *model)
                        ->evaluate(
                            tasks::Split::test, 40, [] {}, Depth::detail)
                        .json();
  const Json point = scores(run, *model, ReadingChoice::automatic, 16);
  for (const char* name : {"accuracy", "exact_match", "accuracy_by_position", "accuracy_by_distance"})
    EXPECT_EQ(point[name], test[name]) << name;
}

TEST(Evaluation, PhaseTestsHaveTheTimingOfTheirPoint) {
  const config::RunConfig run = run_from("[task]\nname = 'counting'\nlength = 60\n[model]\nmixer = 'gru'\nwidth = 8\n");
  const auto model = drawn(run);
  const auto points = config::plan_evaluation(run, {.along = {}, .values = {}, .examples = 4}, true);
  EXPECT_TRUE(evaluate_point(points[0], *model, true, [] {})["phases"].contains("offset"));
  const config::RunConfig mqar = run_from("[task]\nlength = 16\npairs = 2\nvocab = 24\n[model]\nmixer = 'gru'\n");
  EXPECT_THROW(evaluate_point(config::plan_evaluation(mqar, {.along = {}, .values = {}, .examples = 1}, true)[0],
                              *drawn(mqar), true, [] {}),
               Error);
}

}  // namespace
}  // namespace mneme::train
