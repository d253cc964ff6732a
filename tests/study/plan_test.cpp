#include "study/plan.h"

#include <gtest/gtest.h>

#include <chrono>

namespace mneme::study {
namespace {

constexpr const char* kStudy = R"(
[task]
length = 32
vocab = 64
[model]
mixer = ["attention", "mamba"]
[train]
batch = 16
steps = 100
lr = [1e-3, 1e-2]
)";

TEST(Plan, CountsWhatIsDoneAndWhatIsMissing) {
  const Study study = parse_study(kStudy, "s.toml");
  std::unordered_map<std::string, std::pair<store::RunState, std::int64_t>> states;
  EXPECT_EQ(make_plan(study, states).missing.runs, 4);
  states[study.runs[0].id] = {store::RunState::done, 100};
  states[study.runs[1].id] = {store::RunState::interrupted, 25};
  states[study.runs[2].id] = {store::RunState::cancelled, 0};
  const StudyPlan plan = make_plan(study, states);
  EXPECT_EQ(plan.total.runs, 4);
  EXPECT_EQ(plan.total.tokens, 4 * 100 * 16 * 32);
  EXPECT_EQ(plan.missing.runs, 2);
  EXPECT_EQ(plan.missing.tokens, 1.75 * 100 * 16 * 32);
  EXPECT_EQ(plan.states.at(store::RunState::fresh), 1);
  ASSERT_EQ(plan.share.size(), 2u);
  EXPECT_EQ(plan.share[0], 0.75);
  EXPECT_NEAR(plan.total.flops, 2 * study.runs[0].training_flops() + 2 * study.runs[2].training_flops(), 1);
}

TEST(Plan, TimeScalesWithUsefulWork) {
  const Study study = parse_study(kStudy, "s.toml");
  const std::vector<std::size_t> all{0, 1, 2, 3};
  const auto chosen = representatives(study.runs, all);
  EXPECT_EQ(chosen.size(), 2u) << "one measurement per mixer";
  const config::RunConfig& run = study.runs[0];
  const double whole = estimated_seconds(run, 1, run, 0.01);
  EXPECT_GT(whole, 1.0) << "100 steps of 10 ms, and evaluations";
  EXPECT_NEAR(estimated_seconds(run, 0.5, run, 0.01), whole / 2, 1e-9);
  EXPECT_NEAR(estimated_seconds(run, 1, run, 0.02), whole * 2, 1e-9);
}

TEST(Plan, TimeOfTheTestTableCounts) {
  const std::string text = "[task]\nname = 'copying'\nblanks = 10\n[train]\nsteps = 10\n";
  const auto tested = [&](const std::string& values, int examples) {
    return parse_study(
               text + "[test]\nalong = 'blanks'\nvalues = " + values + "\nexamples = " + std::to_string(examples),
               "s.toml", {"", {"model.mixer=rnn"}})
        .runs[0];
  };
  const config::RunConfig rnn = parse_study(text, "s.toml", {"", {"model.mixer=rnn"}}).runs[0];
  const auto extra = [&](const config::RunConfig& run, double share) {
    return estimated_seconds(run, share, rnn, 0.01) - estimated_seconds(rnn, share, rnn, 0.01);
  };
  EXPECT_EQ(extra(rnn, 1), 0);
  const double once = extra(tested("10", 100), 1);
  // As many examples forward as three steps of 64 are forward and backward.
  EXPECT_NEAR(extra(tested("10", 64 * 9), 1), 3 * 0.01, 1e-9);
  EXPECT_NEAR(extra(tested("10", 200), 1), 2 * once, 1e-9);
  EXPECT_NEAR(extra(tested("10", 100), 0.25), once, 1e-9) << "tested once, after all steps";
  EXPECT_GT(extra(tested("[[10, 1000]]", 100), 1), 10 * once) << "longer sequences cost more";
}

TEST(Plan, WorkersThatTakeTheLongestFirstEndTogether) {
  EXPECT_EQ(makespan({5, 1, 1, 1, 1, 1}, 2), 5);
  EXPECT_EQ(makespan({1, 1, 1, 5, 1, 1}, 2), 5);
  EXPECT_EQ(makespan({3, 3, 3}, 1), 9);
  EXPECT_EQ(makespan({3, 2}, 100), 3);
  EXPECT_EQ(makespan({}, 4), 0);
}

TEST(Plan, TenThousandRunsAreAStudyLikeAnyOther) {
  std::string text = kStudy;
  text += "seed = \"range(0, 2500, 1)\"\n";
  const auto start = std::chrono::steady_clock::now();
  const Study study = parse_study(text, "s.toml");
  const StudyPlan plan = make_plan(study, {});
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  EXPECT_EQ(plan.missing.runs, 10000);
  std::printf("10,000 runs planned in %.2f s\n", seconds);
}

}  // namespace
}  // namespace mneme::study
