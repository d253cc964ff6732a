// Every metric that a task lists is in the files of its runs.
#include "train/answer_detail.h"

#include <gtest/gtest.h>

#include "support/temporary_directory.h"
#include "train/trainer.h"

namespace mneme::train {
namespace {

struct Silent : TrainObserver {
  void on_step(const Progress&) override {}
  void on_evaluating() override {}
  void on_metric(std::int64_t, const Json&) override {}
  bool wants_checkpoint() override { return false; }
  void on_checkpoint(std::int64_t, double) override {}
  bool wants_stop() override { return false; }
};

Json values_of(const std::string& task, const std::string& more = "") {
  const testing::TemporaryDirectory directory;
  const config::RunConfig run = config::resolve_run(
      parse_toml("task = { name = \"" + task + "\" " + more +
                     " }\n[model]\nmixer = \"rnn\"\nwidth = 4\nlayers = 1\nstate_mixer = \"none\"\n[train]\n"
                     "batch = 2\nsteps = 1\neval_examples = 1\ntest_examples = 6\n" +
                     (task == "counting" ? "[test]\nphases = true\n" : ""),
                 "test"));
  Silent silent;
  return Trainer(run).train(directory / "checkpoint", silent).values;
}

TEST(ListedMetrics, AreInTheFilesOfEveryTask) {
  for (const tasks::TaskEntry& entry : tasks::task_list()) {
    const Json values = values_of(entry.name);
    for (const std::string& metric : entry.metrics)
      EXPECT_TRUE(values["test"].contains(metric) || values.value("phases", Json::object()).contains(metric))
          << entry.name << " lists " << metric << ": " << values.dump();
  }
}

TEST(ListedMetrics, ByPositionAndDistanceCountEveryAnswer) {
  const Json test = values_of("mqar", ", length = 16, pairs = 2, vocab = 32")["test"];
  for (const char* metric : {"accuracy_by_position", "accuracy_by_distance"}) {
    double right = 0, labelled = 0;
    for (const Json& bin : test[metric]) {
      EXPECT_LT(bin["from"], bin["to"]);
      right += bin["accuracy"].get<double>() * bin["labelled"].get<double>();
      labelled += bin["labelled"].get<double>();
    }
    EXPECT_EQ(labelled, 12) << metric;
    EXPECT_NEAR(right / labelled, test["accuracy"].get<double>(), 1e-12) << metric;
  }
  for (const Json& bin : test["accuracy_by_position"]) EXPECT_GE(bin["from"], 4) << "the context has no labels";
}

TEST(AnswerDetail, PutsAnswersWhereTheyBelong) {
  const config::RunConfig run = config::resolve_run(parse_toml("[task]\nlength = 8\npairs = 1\nvocab = 16\n", "test"));
  const auto task = run.task_entry->build(run.task);
  AnswerDetail detail(run, *task);
  // key 3, value 9; its query at 6, six tokens after the key.
  std::vector<std::int32_t> tokens{3, 9, 0, 0, 0, 0, 3, 0}, labels(8, tasks::kUnlabelled), wrong(8, 0), right(8, 9);
  labels[6] = 9;
  detail.add(tokens, labels, wrong);
  detail.add(tokens, labels, right);
  const Json expected = {{"accuracy_by_position", {{{"from", 6}, {"to", 7}, {"accuracy", 0.5}, {"labelled", 2}}}},
                         {"accuracy_by_distance", {{{"from", 4}, {"to", 8}, {"accuracy", 0.5}, {"labelled", 2}}}}};
  EXPECT_EQ(detail.json(), expected);
}

TEST(AnswerDetail, BinsLongSequences) {
  const config::RunConfig run =
      config::resolve_run(parse_toml("[task]\nlength = 1024\npairs = 256\nvocab = 2048\n", "test"));
  const auto task = run.task_entry->build(run.task);
  AnswerDetail detail(run, *task);
  tasks::Example example(run.shape);
  tasks::ExampleSource(*task, 1, tasks::Split::test).write(0, example.view());
  detail.add(example.tokens, example.labels, example.labels);
  const Json bins = detail.json()["accuracy_by_position"];
  EXPECT_LE(bins.size(), 128u);
  for (const Json& bin : bins) EXPECT_EQ(bin["to"].get<int>() - bin["from"].get<int>(), 8);
}

}  // namespace
}  // namespace mneme::train
