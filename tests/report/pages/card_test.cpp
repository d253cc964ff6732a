#include "report/pages/card.h"

#include <gtest/gtest.h>

namespace mneme::report {
namespace {

TEST(Card, AnUnknownStateAndAMissingSpeedAreNotZero) {
  const std::vector<Json> shipped = shipped_cards("standard");
  ASSERT_GE(shipped.size(), 12u);
  Json card = shipped.front();
  card["tests"][0]["state"] = nullptr;
  card["tests"][0]["tokens_per_second"] = nullptr;
  const Table table = card_cost_table(card);
  EXPECT_EQ(table.rows[0][1], "unknown");
  EXPECT_EQ(table.rows[0][4], "-");
  EXPECT_NE(table.rows[1][1], "unknown");
}

// docs/card.md: everything else can be changed with overrides, which the card then names.
TEST(Card, ThePageNamesOverridesAndTheVersionOfAPythonSource) {
  Json card = shipped_cards("standard").front();
  const auto fact = [&](const std::string& name) {
    for (const auto& [key, value] : card_page(card, {}).facts)
      if (key == name) return value;
    return std::string("none");
  };
  EXPECT_EQ(fact("Overrides"), "none");
  EXPECT_EQ(fact("Version of the source"), "none");
  card["overrides"] = {"train.steps=60", "model.width=64"};
  card["source"] = "89808e78f86065f3";
  EXPECT_EQ(fact("Overrides"), "train.steps=60 model.width=64");
  EXPECT_EQ(fact("Version of the source"), "89808e78f86065f3");
}

TEST(Card, EveryShippedCardHasEveryTestAndColumn) {
  for (const Json& card : shipped_cards("standard")) {
    ASSERT_EQ(card["tests"].size(), card_tests().size()) << card["mixer"];
    for (const Json& test : card["tests"]) {
      EXPECT_EQ(test["scores"].size(), 3u) << card["mixer"] << test["name"];
      for (const char* key : {"score", "best_lr", "parameters", "state", "flops_per_token", "tokens_per_second"})
        EXPECT_TRUE(test[key].is_number()) << card["mixer"] << test["name"] << key;
      EXPECT_TRUE(test.contains("window") && test.contains("extrapolation")) << card["mixer"] << test["name"];
    }
  }
}

}  // namespace
}  // namespace mneme::report
