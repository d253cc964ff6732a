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
  row.config = config.json;
  row.outcome = "done";
  row.validation_accuracy = 0.5;
  row.test_accuracy = 0.25;
  row.steps = 7;
  row.values = {{"parameters", 12}, {"weights_sha256", "abc"}};
  row.metrics = {{.step = 1, .train_loss = 2.5, .loss = std::numeric_limits<double>::quiet_NaN(), .accuracy = 0.125}};
  return row;
}

TEST(ResultFile, ReadsWhatItWrote) {
  const std::vector<config::RunConfig> runs = {run("1"), run("2")};
  std::vector<ResultRow> rows = {row_for(runs[0]), row_for(runs[1])};
  rows[1].outcome = "diverged";
  rows[1].test_accuracy.reset();
  const std::string text = write_results(rows);
  const std::vector<ResultRow> back = read_results(text, "kept", runs);
  ASSERT_EQ(back.size(), 2U);
  EXPECT_EQ(write_results(back), text);
  const ResultRow& first = back[0].run == runs[0].id ? back[0] : back[1];
  EXPECT_EQ(first.config, runs[0].json);
  EXPECT_EQ(first.test_accuracy, 0.25);
  EXPECT_EQ(first.values, (Json{{"parameters", 12}}));
  ASSERT_EQ(first.metrics.size(), 1U);
  EXPECT_EQ(first.metrics[0].train_loss, 2.5);
  EXPECT_TRUE(std::isnan(first.metrics[0].loss));
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
  expect_error(good + write_results(std::vector<ResultRow>{row_for(run("2"))}), "kept.jsonl:2");
  expect_error(good + write_results(std::vector<ResultRow>{row_for(run("2"))}), "is not in the study");
  expect_error("{\"run\": 1}\n", "kept.jsonl:1");
  expect_error("{\"run\": \"" + run("1").id + "\"}\n", "not a result");
  expect_error("not json\n", "kept.jsonl:1");
}

}  // namespace
}  // namespace mneme::report
