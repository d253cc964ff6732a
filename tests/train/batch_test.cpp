#include "train/batch.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace mneme::train {
namespace {

TEST(ExampleOrder, VisitsEachExampleOnceAnEpochInAnOrderOfItsOwn) {
  ExampleOrder order(10, 4, 1);
  std::vector<std::vector<std::uint64_t>> epochs(2);
  for (std::int64_t step = 0; step < 6; ++step)
    for (const auto index : order.indices(step)) epochs[static_cast<std::size_t>(step / 3)].push_back(index);
  EXPECT_NE(epochs[0], epochs[1]);
  for (auto& epoch : epochs) {
    std::sort(epoch.begin(), epoch.end());
    EXPECT_EQ(epoch, (std::vector<std::uint64_t>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
  }
}

TEST(ExampleOrder, IsAFunctionOfTheStep) {
  ExampleOrder forwards(10, 4, 1), jumping(10, 4, 1);
  for (std::int64_t step = 0; step < 4; ++step) forwards.indices(step);
  EXPECT_EQ(jumping.indices(4), forwards.indices(4));
  EXPECT_NE(ExampleOrder(10, 10, 1).indices(0), ExampleOrder(10, 10, 2).indices(0));
}

TEST(ExampleOrder, FreshExamplesNeverRepeat) {
  ExampleOrder order(0, 3, 1);
  EXPECT_EQ(order.indices(0), (std::vector<std::uint64_t>{0, 1, 2}));
  EXPECT_EQ(order.indices(5), (std::vector<std::uint64_t>{15, 16, 17}));
}

TEST(Batch, ListsTheLabelledPositions) {
  const tasks::TaskEntry& entry = tasks::find_task("mqar");
  const ConfigValue table = parse_toml("length = 8\npairs = 2\nvocab = 16\n", "test");
  const auto task = entry.build(resolve(entry.options, &table, "task"));
  const tasks::ExampleSource source(*task, 1, tasks::Split::train);
  const std::vector<std::uint64_t> indices = {5, 9};
  const Batch batch = make_batch(source, task->shape(), indices);
  ASSERT_EQ(batch.labelled.size(), 4U);
  EXPECT_EQ(batch.sequence, (std::vector<std::int32_t>{0, 0, 1, 1}));
  tasks::Example example(task->shape());
  source.write(9, example.view());
  for (std::size_t i = 2; i < 4; ++i)
    EXPECT_EQ(example.labels[static_cast<std::size_t>(batch.labelled[i]) - 8], batch.answers[i]);
  EXPECT_EQ(batch.tokens[1][0].item<int>(), example.tokens[0]);
}

}  // namespace
}  // namespace mneme::train
