#include "tasks/groups.h"

#include <gtest/gtest.h>

#include <map>

#include "tasks/task_testing.h"

namespace mneme::tasks {
namespace {

TEST(Group, TablesAreTheOnesOfTheReference) {
  const Json groups = testing::load_data("groups.json")["groups"];
  for (const auto& [ours, theirs] :
       std::map<std::string, std::string>{{"Z60", "Z60"}, {"A4xZ5", "A4_x_Z5"}, {"A5", "A5"}}) {
    const Group group = Group::parse(ours);
    const Json& table = groups.at(theirs).at("table");
    ASSERT_EQ(group.order(), 60);
    for (std::int32_t a = 0; a < 60; ++a)
      for (std::int32_t b = 0; b < 60; ++b)
        ASSERT_EQ(group.product(a, b), table[static_cast<std::size_t>(a)][static_cast<std::size_t>(b)].get<int>())
            << ours << " " << a << " " << b;
  }
}

TEST(Group, ObeysTheAxioms) {
  for (const std::string name : {"Z2", "Z7", "A3", "A4", "S2", "S3", "S4", "S3xZ2", "Z2xA4xZ3", "Z1xS3", "S5"}) {
    const Group group = Group::parse(name);
    const auto order = static_cast<std::int32_t>(group.order());
    for (std::int32_t a = 0; a < order; ++a) {
      ASSERT_EQ(group.product(0, a), a) << name;
      ASSERT_EQ(group.product(a, 0), a) << name;
      bool has_inverse = false;
      for (std::int32_t b = 0; b < order; ++b) {
        has_inverse = has_inverse || group.product(a, b) == 0;
        const std::int32_t c = (7 * a + 3 * b + 1) % order;
        ASSERT_EQ(group.product(group.product(a, b), c), group.product(a, group.product(b, c))) << name;
      }
      ASSERT_TRUE(has_inverse) << name;
    }
  }
}

TEST(Group, OrdersAreRight) {
  for (const auto& [name, order] : std::map<std::string, int>{
           {"Z60", 60}, {"A1xZ2", 2}, {"A3", 3}, {"S4", 24}, {"A6", 360}, {"S6", 720}, {"A7", 2520}, {"S3xS3xZ2", 72}})
    EXPECT_EQ(Group::parse(name).order(), order) << name;
}

// The counts that the specification gives: commuting pairs, and elements of each order.
TEST(Group, HasTheFactsOfTheTables) {
  const auto commuting = [](const std::string& name) {
    const Group group = Group::parse(name);
    int pairs = 0;
    for (std::int32_t a = 0; a < 60; ++a)
      for (std::int32_t b = 0; b < 60; ++b) pairs += group.product(a, b) == group.product(b, a);
    return pairs;
  };
  EXPECT_EQ(commuting("Z60"), 3600);
  EXPECT_EQ(commuting("A4xZ5"), 1200);
  EXPECT_EQ(commuting("A5"), 300);

  const auto orders = [](const std::string& name) {
    const Group group = Group::parse(name);
    std::map<int, int> counts;
    for (std::int32_t a = 0; a < 60; ++a) {
      int order = 1;
      for (std::int32_t power = a; power != 0; power = group.product(power, a)) ++order;
      ++counts[order];
    }
    return counts;
  };
  EXPECT_EQ(orders("A5"), (std::map<int, int>{{1, 1}, {2, 15}, {3, 20}, {5, 24}}));
  EXPECT_EQ(orders("A4xZ5"), (std::map<int, int>{{1, 1}, {2, 3}, {3, 8}, {5, 4}, {10, 12}, {15, 32}}));
}

TEST(Group, NamesElementsInOneLineNotation) {
  const Group group = Group::parse("A4xZ5");
  EXPECT_EQ(group.name(0), "[1 2 3 4], 0");
  EXPECT_EQ(group.name(7), "[1 3 4 2], 2");
}

}  // namespace
}  // namespace mneme::tasks
