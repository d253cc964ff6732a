#include "tasks/mqar.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <map>
#include <set>

#include "tasks/task_testing.h"

namespace mneme::tasks {
namespace {

using testing::chi_square_deviation;
using testing::count_labels;
using testing::load_data;
using testing::make_example;
using testing::make_task;
using testing::uniform_deviation;

std::string number(const std::string& key, std::int64_t value) { return key + "=" + std::to_string(value); }

RC_GTEST_PROP(Mqar, AsksEachKeyOnceAtAnEvenPlaceForItsValue, ()) {
  const auto pairs = *rc::gen::inRange<std::int64_t>(1, 20);
  const auto length = 4 * pairs + 2 * *rc::gen::inRange<std::int64_t>(0, 20);
  const bool shared = *rc::gen::arbitrary<bool>(), zero = *rc::gen::arbitrary<bool>();
  const auto vocab = (shared ? pairs : length) + *rc::gen::inRange<std::int64_t>(1, 60);
  const auto task =
      make_task("mqar", {number("length", length), number("pairs", pairs), number("vocab", vocab),
                         shared ? "vocabulary=shared" : "vocabulary=split", zero ? "filler=zero" : "filler=random"});
  const Example example = make_example(*task, *rc::gen::arbitrary<std::uint32_t>());
  std::map<std::int32_t, std::int32_t> value_of;
  std::set<std::int32_t> values;
  for (std::size_t i = 0; i < static_cast<std::size_t>(pairs); ++i) {
    const std::int32_t key = example.tokens[2 * i], value = example.tokens[2 * i + 1];
    RC_ASSERT(value_of.emplace(key, value).second);
    values.insert(value);
    RC_ASSERT(key >= 1 && key < (shared ? vocab : vocab / 2));
    RC_ASSERT(value >= (shared ? 1 : vocab / 2) && value < vocab);
  }
  if (!shared) RC_ASSERT(values.size() == static_cast<std::size_t>(pairs));
  RC_ASSERT(count_labels(example) == static_cast<std::size_t>(pairs));
  std::set<std::int32_t> asked;
  for (std::size_t t = 0; t < example.tokens.size(); ++t) {
    if (example.labels[t] == kUnlabelled) {
      if (zero && t >= 2 * static_cast<std::size_t>(pairs)) RC_ASSERT(example.tokens[t] == 0);
      continue;
    }
    RC_ASSERT(t >= 2 * static_cast<std::size_t>(pairs));
    RC_ASSERT(t % 2 == 0U);
    RC_ASSERT(asked.insert(example.tokens[t]).second);
    RC_ASSERT(example.labels[t] == value_of.at(example.tokens[t]));
  }
}

// Against the counts of the reference code: two samples of the same size and law differ by at most
// what chance allows (chi-square of two rows).
TEST(Mqar, SlotsAreDrawnAsByTheReference) {
  const Json reference = load_data("task_samples/mqar_slot_statistics.json");
  const std::vector<double> theirs = reference["query_slot_counts"];
  const auto rows = reference["config"]["num_examples"].get<std::uint64_t>();
  const auto task = make_task("mqar", {"length=64", "pairs=4", "vocab=8192"});
  std::vector<double> ours(theirs.size());
  for (std::uint64_t i = 0; i < rows; ++i) {
    const Example example = make_example(*task, i);
    for (std::size_t t = 8; t < example.labels.size(); ++t) ours.at((t - 8) / 2) += example.labels[t] != kUnlabelled;
  }
  double statistic = 0;
  for (std::size_t g = 0; g < ours.size(); ++g)
    statistic += (ours[g] - theirs[g]) * (ours[g] - theirs[g]) / (ours[g] + theirs[g]);
  const double freedom = static_cast<double>(ours.size()) - 1;
  EXPECT_LT((statistic - freedom) / std::sqrt(2 * freedom), 5) << statistic;
}

// The first key's slot is a single draw: its law is known exactly.
TEST(Mqar, TheFirstSlotFollowsThePowerLaw) {
  const std::vector<double> law = load_data("task_samples/mqar_slot_statistics.json")["single_draw_probability"];
  const auto task = make_task("mqar", {"length=64", "pairs=4", "vocab=8192"});
  constexpr int kRows = 20'000;
  std::vector<double> counts(law.size()), expected;
  for (const double probability : law) expected.push_back(kRows * probability);
  for (std::uint64_t i = 0; i < kRows; ++i) {
    Example example = make_example(*task, i);
    const auto sources = task->sources(example.view());
    for (std::size_t t = 8; t < sources.size(); ++t)
      if (sources[t] == 0) ++counts[(t - 8) / 2];
  }
  EXPECT_LT(std::abs(chi_square_deviation(counts, expected)), 5);
}

TEST(Mqar, UniformPowerGivesUniformSlots) {
  const auto task = make_task("mqar", {"length=32", "pairs=2", "vocab=64", "power=1"});
  std::vector<double> counts(14);
  for (std::uint64_t i = 0; i < 20'000; ++i) {
    const Example example = make_example(*task, i);
    for (std::size_t t = 4; t < 32; ++t) counts[(t - 4) / 2] += example.labels[t] != kUnlabelled;
  }
  EXPECT_LT(std::abs(uniform_deviation(counts)), 5);
}

TEST(Mqar, KeysValuesAndFillerAreUniform) {
  const auto task = make_task("mqar", {"length=32", "pairs=4", "vocab=40"});
  std::vector<double> keys(19), values(20), filler(40);
  for (std::uint64_t i = 0; i < 20'000; ++i) {
    const Example example = make_example(*task, i);
    for (std::size_t t = 0; t < 8; t += 2) {
      ++keys.at(static_cast<std::size_t>(example.tokens[t] - 1));
      ++values.at(static_cast<std::size_t>(example.tokens[t + 1] - 20));
    }
    for (std::size_t t = 9; t < 32; t += 2) ++filler[static_cast<std::size_t>(example.tokens[t])];
  }
  // Drawn without replacement, counts vary less than by chance: only the upper side can go wrong.
  EXPECT_LT(uniform_deviation(keys), 5);
  EXPECT_LT(uniform_deviation(values), 5);
  EXPECT_LT(std::abs(uniform_deviation(filler)), 5);
}

TEST(ForgettingMqar, UpdatesChangeTheValueAndTheLastOneCounts) {
  const auto task = make_task("forgetting_mqar", {"length=32", "pairs=4", "updates=3", "vocab=40", "filler=zero"});
  std::vector<double> updated(4);
  for (std::uint64_t i = 0; i < 4000; ++i) {
    const Example example = make_example(*task, i);
    std::map<std::int32_t, std::int32_t> value_of;
    std::map<std::int32_t, std::size_t> place_of;
    for (std::size_t t = 0; t < 14; t += 2) {
      const std::int32_t key = example.tokens[t], value = example.tokens[t + 1];
      if (t < 8) {
        ASSERT_TRUE(value_of.emplace(key, value).second);
        place_of[key] = t / 2;
      } else {
        ASSERT_NE(value_of.at(key), value) << "an update that changes nothing";
        ++updated[place_of.at(key)];
        value_of[key] = value;
      }
    }
    ASSERT_EQ(count_labels(example), 4U);
    for (std::size_t t = 14; t < 32; ++t)
      if (example.labels[t] != kUnlabelled) {
        ASSERT_EQ(example.labels[t], value_of.at(example.tokens[t]));
      }
  }
  EXPECT_LT(uniform_deviation(updated), 5);
}

TEST(CompositionalMqar, HoldsEveryCombinationOnceInThirdsOfTheVocabulary) {
  const auto task = make_task("compositional_mqar", {"length=54", "pairs=9", "vocab=91", "filler=zero"});
  for (std::uint64_t i = 0; i < 500; ++i) {
    const Example example = make_example(*task, i);
    std::set<std::int32_t> first, second, values;
    std::set<std::pair<std::int32_t, std::int32_t>> cells;
    for (std::size_t t = 0; t < 27; t += 3) {
      ASSERT_TRUE(example.tokens[t] >= 1 && example.tokens[t] < 30);
      ASSERT_TRUE(example.tokens[t + 1] >= 30 && example.tokens[t + 1] < 60);
      ASSERT_TRUE(example.tokens[t + 2] >= 60 && example.tokens[t + 2] < 91);
      first.insert(example.tokens[t]);
      second.insert(example.tokens[t + 1]);
      values.insert(example.tokens[t + 2]);
      cells.emplace(example.tokens[t], example.tokens[t + 1]);
    }
    ASSERT_EQ(first.size(), 3U);
    ASSERT_EQ(second.size(), 3U);
    ASSERT_EQ(values.size(), 9U);
    ASSERT_EQ(cells.size(), 9U);
    for (std::size_t t = 0; t < 54; ++t)
      if (example.labels[t] != kUnlabelled) {
        ASSERT_EQ(t % 3, 1U);
      }
  }
}

TEST(Ar, AsksEveryPlaceOfTheContextEquallyOften) {
  const auto task = make_task("ar", {"pairs=5", "vocab=30"});
  std::vector<double> places(5);
  for (std::uint64_t i = 0; i < 10'000; ++i) {
    Example example = make_example(*task, i);
    ASSERT_EQ(count_labels(example), 1U);
    ++places[static_cast<std::size_t>(task->sources(example.view()).back() / 2)];
  }
  EXPECT_LT(std::abs(uniform_deviation(places)), 5);
}

TEST(Induction, HasTheSpecialTokenTwiceAtUniformPlaces) {
  const auto task = make_task("induction", {"length=12", "vocab=5"});
  std::vector<double> places(10);
  for (std::uint64_t i = 0; i < 10'000; ++i) {
    Example example = make_example(*task, i);
    ASSERT_EQ(std::count(example.tokens.begin(), example.tokens.end(), 4), 2);
    ASSERT_EQ(example.tokens.back(), 4);
    ++places.at(static_cast<std::size_t>(task->sources(example.view()).back()));
  }
  EXPECT_LT(std::abs(uniform_deviation(places)), 5);
}

}  // namespace
}  // namespace mneme::tasks
