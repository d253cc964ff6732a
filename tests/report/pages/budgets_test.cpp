#include "report/pages/budgets.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "config/run_config.h"
#include "core/config.h"
#include "support/places.h"

namespace mneme::report {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

config::RunConfig run_of(const std::string& toml) { return config::resolve_run(parse_toml(toml, "run.toml")); }

ResultRow result(int length, const std::string& mixer, std::int64_t solved_at) {
  const config::RunConfig run = run_of(fmt::format(
      "[task]\nname = \"mqar\"\nlength = {}\n[model]\nmixer = \"{}\"\n[train]\nsteps = 1000\nbatch = 32\nlr = 1e-3\n",
      length, mixer));
  ResultRow row;
  row.run = run.id;
  row.config = run.json();
  row.outcome = "done";
  add_run_facts(row, run);
  for (int step = 100; step <= 1000; step += 100)
    row.metrics.push_back(
        {.step = step, .train_loss = 1, .loss = 1, .accuracy = solved_at > 0 && step >= solved_at ? 0.95 : 0.2});
  row.validation_accuracy = row.metrics.back().accuracy;
  row.steps = 1000;
  return row;
}

TEST(Budgets, AreWhatSolvedRunsNeeded) {
  const std::vector<ResultRow> rows{result(32, "mamba", 300), result(32, "mamba", 700), result(32, "mamba", 0),
                                    result(64, "mamba", 900)};
  const std::vector<Budget> budgets = budgets_of(rows);
  ASSERT_EQ(budgets.size(), 2u);
  EXPECT_THAT(budgets[0].size, HasSubstr("length 32"));
  EXPECT_EQ(budgets[0].runs, 3);
  EXPECT_THAT(budgets[0].steps, ElementsAre(300, 700));
  EXPECT_TRUE(budgets[0].exact);
  EXPECT_EQ(budgets[0].most_steps, 1000);
}

TEST(Budgets, ARunWithoutACurveCountsWithItsBestEvaluation) {
  ResultRow row = result(32, "mamba", 300);
  row.metrics.clear();
  row.values["best"] = {{"step", 800}, {"accuracy", 0.95}};
  const std::vector<Budget> budgets = budgets_of(std::vector<ResultRow>{row});
  EXPECT_THAT(budgets[0].steps, ElementsAre(800));
  EXPECT_FALSE(budgets[0].exact);
  EXPECT_EQ(budget_table(budgets).rows[0][4], "at most 800");
}

TEST(Budgets, APlanSaysWhatIsKnownAndWhatIsNot) {
  const std::vector<Budget> budgets = budgets_of(std::vector<ResultRow>{
      result(32, "mamba", 300), result(32, "mamba", 700), result(32, "attention", 900), result(128, "mamba", 0)});
  const auto line = [&](const std::string& task, const std::string& train) {
    const std::vector<config::RunConfig> runs{run_of(task + "[model]\nmixer = \"mamba\"\n" + train)};
    return budget_lines(runs, budgets).at(0);
  };
  // In steps of the study's own batch.
  EXPECT_THAT(
      line("[task]\nname = \"mqar\"\nlength = 32\n", "[train]\nsteps = 900\nbatch = 16\n"),
      HasSubstr("2 of our 2 runs of mamba reached 90 %, after 600 to 1,400 steps of 16, median 1,000; this study "
                "gives less (here: 900 steps of 16)"));
  EXPECT_THAT(line("[task]\nname = \"mqar\"\nlength = 48\n", "[train]\nsteps = 900\nbatch = 32\n"),
              HasSubstr("not known at this size; at length 32"));
  EXPECT_THAT(line("[task]\nname = \"mqar\"\nlength = 128\n", "[train]\nsteps = 900\nbatch = 32\n"),
              HasSubstr("none of our runs (1 of mamba) solved it within 1,000 steps of 32"));
  EXPECT_THAT(line("[task]\nname = \"parity\"\n", "[train]\nsteps = 900\nbatch = 32\n"),
              HasSubstr("not known: we keep no results of this task"));
}

// What is compiled in is what the repository keeps.
TEST(Budgets, ShippedOnesAreThoseOfTheKeptResults) {
  const std::vector<Budget> shipped = shipped_budgets(), kept = budgets_in(Path(source_directory()) / "results");
  ASSERT_FALSE(shipped.empty());
  EXPECT_EQ(budget_table(shipped).rows, budget_table(kept).rows);
}

}  // namespace
}  // namespace mneme::report
