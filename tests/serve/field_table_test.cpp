#include "serve/field_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace mneme::serve {
namespace {

using ::testing::ElementsAre;

std::vector<std::string> names(const FieldTable& table, const std::vector<FieldTable::Field>& fields) {
  std::vector<std::string> texts;
  for (const auto field : fields) texts.push_back(table.name(field));
  return texts;
}

TEST(FieldTable, KnowsWhatDiffers) {
  FieldTable table;
  const std::vector<std::string> runs = {"a", "b", "c"};
  table.set("a",
            {{"train", {{"lr", 0.1}, {"seed", 1}, {"init_seed", 7}}}, {"model", {{"mixer", "x"}, {"x", {{"n", 4}}}}}});
  table.set("b", {{"train", {{"lr", 0.1}, {"seed", 2}, {"init_seed", 8}}}, {"model", {{"mixer", "y"}}}});
  table.set("c", {{"train", {{"lr", 0.01}, {"seed", 2}, {"init_seed", 8}}}, {"model", {{"mixer", "y"}}}});
  // An option that only some have does not differ; a seed that follows from the seed does not either.
  EXPECT_THAT(names(table, table.differing(runs)), ElementsAre("model.mixer", "train.lr", "train.seed"));
  EXPECT_THAT(table.values(runs, *table.find("train.lr")), ElementsAre(0.01, 0.1));
  EXPECT_EQ(table.value("a", "model.x.n"), 4);
  EXPECT_TRUE(table.value("b", "model.x.n").is_null());
  EXPECT_TRUE(table.value("nobody", "train.lr").is_null());
  table.set("c", {{"train", {{"lr", 0.1}, {"seed", 2}, {"init_seed", 9}}}});
  EXPECT_THAT(names(table, table.differing(runs)), ElementsAre("model.mixer", "train.init_seed", "train.seed"));
  table.erase("c");
  EXPECT_THAT(names(table, table.differing(runs)), ElementsAre("model.mixer", "train.seed"));
}

}  // namespace
}  // namespace mneme::serve
