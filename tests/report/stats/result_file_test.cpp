#include "report/stats/result_file.h"

#include <gtest/gtest.h>

#include <limits>

#include "core/config.h"
#include "core/error.h"

namespace mneme::report {
namespace {

config::RunConfig run(const std::string& seed) {
  return config::resolve_run(parse_toml("train.seed = " + seed + "\n", "test"));
}

ResultRow row_for(const config::RunConfig& config) {
  ResultRow row;
  row.run = config.id;
  row.config = config.json();
  row.outcome = "done";
  row.validation_accuracy = 0.5;
  row.test_accuracy = 0.25;
  row.steps = 7;
  add_run_facts(row, config);
  row.values = {{"parameters", 12}, {"weights_sha256", "abc"}};
  row.metrics = {{.step = 1,
                  .train_loss = 2.5,
                  .loss = std::numeric_limits<double>::quiet_NaN(),
                  .accuracy = 0.125,
                  .exact_match = 0.5}};
  return row;
}

TEST(ResultFile, ReadsWhatItWrote) {
  const std::vector<config::RunConfig> runs = {run("1"), run("2")};
  std::vector<ResultRow> rows = {row_for(runs[0]), row_for(runs[1])};
  rows[1].outcome = "diverged";
  rows[1].test_accuracy.reset();
  const std::string text = write_results(rows);
  const std::vector<ResultRow> back = read_results(text, "kept", runs).rows;
  ASSERT_EQ(back.size(), 2U);
  EXPECT_EQ(write_results(back), text);
  const ResultRow& first = back[0].run == runs[0].id ? back[0] : back[1];
  EXPECT_EQ(first.config, runs[0].json());
  EXPECT_EQ(first.test_accuracy, 0.25);
  EXPECT_EQ(first.values, (Json{{"parameters", 12}}));
  ASSERT_EQ(first.metrics.size(), 1U);
  EXPECT_EQ(first.metrics[0].train_loss, 2.5);
  EXPECT_TRUE(std::isnan(first.metrics[0].loss));
  EXPECT_EQ(first.metrics[0].exact_match, 0.5);
  EXPECT_EQ(first.tokens_per_step, runs[0].train.integer("batch") * runs[0].shape.length);
  EXPECT_GT(first.initial_loss, 0);
}

// What a file holds must be enough without the study: each line's configuration is that of its id.
TEST(ResultFile, ALineCarriesItsConfiguration) {
  const config::RunConfig config = run("7");
  const Json line = parse_json(write_results(std::vector<ResultRow>{row_for(config)}), "kept");
  EXPECT_EQ(config::resolve_run(config_from_json(line.at("config"), "kept")).id, config.id);
  EXPECT_EQ(line.at("config"), (Json{{"train", {{"seed", 7}}}}));
  EXPECT_EQ(line.at("curve"), (Json{{1, nullptr, 0.125, 2.5, 0.5}}));
}

TEST(ResultFile, MergingKeepsWhatIsThereAndReplacesTheSameRun) {
  const std::vector<config::RunConfig> runs = {run("1"), run("2"), run("3")};
  const std::string kept = write_results(std::vector<ResultRow>{row_for(runs[0]), row_for(runs[1])});
  EXPECT_EQ(merge_results(kept, "kept", {}), kept);
  ResultRow better = row_for(runs[1]);
  better.test_accuracy = 0.75;
  const std::string merged = merge_results(kept, "kept", std::vector<ResultRow>{better, row_for(runs[2])});
  EXPECT_EQ(merge_results(merged, "kept", std::vector<ResultRow>{better}), merged);
  const KeptResults all = read_results(merged, "kept", runs);
  ASSERT_EQ(all.rows.size(), 3U);
  for (const ResultRow& row : all.rows) EXPECT_EQ(row.test_accuracy, row.run == runs[1].id ? 0.75 : 0.25);
}

TEST(ResultFile, ReadsLinesOfAnEarlierVersion) {
  const config::RunConfig config = run("1");
  const Json old = {{"run", config.id},
                    {"mixer", "attention"},
                    {"lr", 1e-3},
                    {"seed", 1},
                    {"outcome", "done"},
                    {"steps", 7},
                    {"test", 0.25},
                    {"validation", 0.5},
                    {"values", Json::object()},
                    {"metrics", {{5, 2.5, 2.0, 0.125}}}};
  const std::vector<ResultRow> rows = read_results(old.dump() + "\n", "kept", std::vector{config}).rows;
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].metrics.at(0).train_loss, 2.5);
  EXPECT_EQ(rows[0].metrics.at(0).loss, 2.0);
}

TEST(ResultFile, RunsThatAreNotPlannedAreCounted) {
  const std::string text = write_results(std::vector<ResultRow>{row_for(run("1")), row_for(run("2"))});
  const KeptResults kept = read_results(text, "kept", std::vector{run("1")});
  EXPECT_EQ(kept.rows.size(), 1U);
  EXPECT_EQ(kept.not_planned, 1U);
}

TEST(ResultFile, LeavesOutRunsThatHaveNotEnded) {
  const config::RunConfig config = run("1");
  ResultRow row = row_for(config);
  row.outcome = "interrupted";
  EXPECT_EQ(write_results(std::vector<ResultRow>{row}), "");
}

void expect_error(const std::string& text, const std::string& part) {
  try {
    read_results(text, "kept.jsonl", std::vector<config::RunConfig>{run("1")});
    FAIL() << "accepted: " << text;
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
  }
}

TEST(ResultFile, SaysWhatIsWrongAndWhere) {
  const std::string good = write_results(std::vector<ResultRow>{row_for(run("1"))});
  expect_error(good + "{}\n", "kept.jsonl:2");
  Json wrong = parse_json(good, "kept");
  wrong["config"]["train"]["seed"] = 2;
  expect_error(wrong.dump() + "\n", "the configuration is that of run " + run("2").id);
  expect_error("{\"run\": 1}\n", "kept.jsonl:1");
  expect_error("{\"run\": \"" + run("1").id + "\"}\n", "not a result");
  expect_error("not json\n", "kept.jsonl:1");
}

}  // namespace
}  // namespace mneme::report
