// Where the answer is known: models set by hand, models that were never trained.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "inspect/circuit.h"
#include "inspect/list.h"
#include "inspect/patches.h"
#include "models/model_testing.h"
#include "support/hand_set_models.h"

namespace mneme::inspect {
namespace {

using namespace testing;
using ::testing::HasSubstr;

const Json& corruption(const Json& result, std::string_view token) {
  for (const Json& each : result.at("corruptions"))
    if (each.at("token") == token) return each;
  throw std::out_of_range("no corruption of the " + std::string(token));
}

// The mean attribution of a cell.
double mean(const Json& corruption, std::int64_t layer, const std::string& place, const std::string& kind) {
  for (const Json& cell : corruption.at("cells"))
    if (cell.at("layer") == layer && cell.at("place") == place && cell.at("kind") == kind) return cell.at("mean");
  throw std::out_of_range("no cell " + place + ", " + kind);
}

Json inspected(HandSetModel& set, std::int64_t examples = 70) {
  const Subject subject(set.run, set.model, 0);
  return interventions(subject, subject.examples(examples));
}

// The probability of the answer of case i that induction_attention() comes to, reckoned from tokens alone: layer 1
// gives a position 200 if the token before it, of `before`, is the query, takes 200 from position 0, which is its own
// past, and adds 20 to the logit of what it reads, of `read`.
double by_hand(const RecallCases& cases, std::int64_t i, const torch::Tensor& read, const torch::Tensor& before) {
  const auto token = read.accessor<std::int32_t, 2>(), past = before.accessor<std::int32_t, 2>();
  const std::int64_t query = cases.query[static_cast<std::size_t>(i)];
  std::vector<double> logits(48, 0.0);
  double weights = 0, total = 0;
  const auto weight = [&](std::int64_t s) {
    const bool found = (s == 0 ? token[i][0] : past[i][s - 1]) == token[i][query];
    return std::exp(200.0 * (static_cast<int>(found) - static_cast<int>(s == 0) - 1));
  };
  for (std::int64_t s = 0; s <= query; ++s) weights += weight(s);
  for (std::int64_t s = 0; s <= query; ++s) logits[static_cast<std::size_t>(token[i][s])] += 20 * weight(s) / weights;
  for (const double logit : logits) total += std::exp(logit);
  return std::exp(logits[static_cast<std::size_t>(cases.answers[static_cast<std::size_t>(i)])]) / total;
}

// What putting the clean key back does where layer 1 reads it, and not where it looks for it: a query that finds
// nothing averages over every position before it, so that each of them moves the answer's probability a little.
double attribution_of_reading_the_key(const RecallCases& cases) {
  const torch::Tensor corrupted = cases.corrupted(Kind::key),
                      restored = torch::where(cases.positions(Kind::key), cases.tokens, corrupted);
  std::vector<double> clean, corrupt, patched;
  for (std::int64_t i = 0; i < cases.count(); ++i) {
    clean.push_back(by_hand(cases, i, cases.tokens, cases.tokens));
    corrupt.push_back(by_hand(cases, i, corrupted, corrupted));
    patched.push_back(by_hand(cases, i, restored, corrupted));
  }
  const auto as_tensor = [](const std::vector<double>& values) { return torch::tensor(values, torch::kFloat64); };
  return attribution(as_tensor(clean), as_tensor(corrupt), as_tensor(patched))->mean;
}

TEST(Interventions, FindTheInductionThatWasSetByHand) {
  HandSetModel set = induction_attention();
  const Subject subject(set.run, set.model, 0);
  const Examples examples = subject.examples(70);
  const Json result = interventions(subject, examples);
  const Json &key = corruption(result, "key"), &value = corruption(result, "value");
  EXPECT_EQ(key.at("kept"), 70);
  EXPECT_GT(key.at("p_clean").get<double>(), 0.9999);
  double worst = 0;
  const auto expect = [&](const Json& of, std::int64_t layer, const char* place, const char* kind, double expected) {
    const double found = mean(of, layer, place, kind);
    EXPECT_NEAR(found, expected, 1e-9) << layer << ", " << place << ", " << kind;
    worst = std::max(worst, std::abs(found - expected));
  };
  // What layer 0 leaves for layer 1 carries the key at the position of the value, and nowhere else.
  expect(key, 1, "block input", "value", 1);
  for (const char* kind : {"query", "other pairs", "filler"}) EXPECT_EQ(mean(key, 1, "block input", kind), 0) << kind;
  const double read = attribution_of_reading_the_key(recall_cases(examples));
  EXPECT_NE(read, 0);
  expect(key, 1, "block input", "key", read);
  // Before layer 0 it is at the key, after layer 1 at the query.
  expect(key, 0, "block input", "key", 1);
  EXPECT_EQ(mean(key, 0, "block input", "value"), 0);
  expect(key, 1, "block output", "query", 1);
  EXPECT_EQ(mean(key, 1, "block output", "value"), 0);
  // The cache of layer 1 has the key as soon as the value is read, not when the key is.
  expect(key, 1, "state", "key", read);
  expect(key, 1, "state", "value", 1);
  expect(key, 1, "state", "query", 1);
  // The value never leaves its position before layer 1 reads it.
  for (std::int64_t layer : {0, 1}) {
    expect(value, layer, "block input", "value", 1);
    EXPECT_EQ(mean(value, layer, "block input", "query"), 0);
  }
  EXPECT_EQ(result.at("verdict").at("name"), "induction") << result.at("verdict").dump();
  EXPECT_THAT(result["verdict"]["sentences"][0].get<std::string>(), HasSubstr("Induction in layer 1: layer 0 takes"));
  RecordProperty("worst", fmt::format("{:.2g}", worst));
}

TEST(Interventions, FindDirectRetrievalByAConvolutionThatWasSetByHand) {
  HandSetModel set = shifted_linear_attention();
  const Json result = inspected(set);
  const Json& key = corruption(result, "key");
  EXPECT_NEAR(mean(key, 0, "block output", "query"), 1, 1e-6);
  // The key enters the state with the value; until then it is in the window of the convolution.
  EXPECT_NEAR(mean(key, 0, "state", "key"), 0, 1e-6);
  EXPECT_NEAR(mean(key, 0, "convolution's state", "key"), 1, 1e-6);
  EXPECT_NEAR(mean(key, 0, "state", "value"), 1, 1e-6);
  EXPECT_NEAR(mean(key, 0, "convolution's state", "value"), 0, 1e-6);
  EXPECT_EQ(result.at("verdict").at("name"), "direct");
  EXPECT_THAT(result["verdict"]["sentences"][0].get<std::string>(), HasSubstr("Direct retrieval in layer 0"));
  EXPECT_THAT(result["verdict"]["sentences"][1].get<std::string>(),
              HasSubstr("convolution takes the key to the value"));
}

TEST(Interventions, AttributeNothingToModelsThatWereNotTrained) {
  for (const char* mixer : {"attention", "mamba", "deltanet", "gru", "hyena", "linear_attention"}) {
    const auto run = run_from(fmt::format(
        "[task]\nname = 'mqar'\nlength = 32\npairs = 4\nvocab = 256\n[model]\nwidth = 32\nlayers = 2\nmixer = '{}'\n",
        mixer));
    const Subject subject(run);
    const Json result = interventions(subject, subject.examples(40));
    EXPECT_EQ(result.at("verdict").at("name"), "nothing") << mixer;
    for (const Json& each : result.at("corruptions")) {
      EXPECT_EQ(each.at("kept"), 0) << mixer;
      EXPECT_TRUE(each.at("cells").empty()) << mixer;
    }
  }
}

TEST(Interventions, SayWhichTasksHaveNoPairs) {
  for (const char* task : {"state_tracking", "copying", "cumulative_parity", "counting"}) {
    const auto run = run_from(fmt::format("[task]\nname = '{}'\n[model]\nwidth = 16\nmixer = 'gru'\n", task));
    const Subject subject(run);
    const Json result = interventions(subject, subject.examples(3));
    ASSERT_TRUE(result.contains("skipped")) << task;
    EXPECT_THAT(result["skipped"].get<std::string>(), HasSubstr("no keys, values and queries")) << task;
  }
}

TEST(RecallCases, EveryPositionIsOfOneKindAndOneTokenIsReplaced) {
  for (const char* task :
       {"name = 'mqar'\nlength = 32", "name = 'forgetting_mqar'\nlength = 64", "name = 'compositional_mqar'",
        "name = 'ar'", "name = 'induction'\nlength = 32", "name = 'mqar'\nlength = 32\nvocabulary = 'shared'"}) {
    const auto run = run_from(fmt::format("[task]\n{}\n[model]\nwidth = 8\nmixer = 'gru'\n", task));
    const Subject subject(run);
    const Examples examples = subject.examples(20);
    ASSERT_EQ(why_no_recall(subject, examples), "") << task;
    const RecallCases cases = recall_cases(examples);
    torch::Tensor kinds = torch::zeros(cases.tokens.sizes(), torch::kInt64);
    for (const torch::Tensor& mask : cases.at) kinds += mask;
    EXPECT_TRUE((kinds == 1).all().item<bool>()) << task;
    for (const Kind kind : {Kind::key, Kind::value}) {
      const torch::Tensor changed = cases.corrupted(kind);
      ASSERT_TRUE(changed.defined()) << task;
      EXPECT_TRUE(torch::equal(changed != cases.tokens, cases.positions(kind))) << task;
    }
    // The value answers the query.
    for (std::int64_t i = 0; i < cases.count(); ++i)
      EXPECT_EQ(cases.tokens[i][cases.value[static_cast<std::size_t>(i)]].item<std::int64_t>(),
                cases.answers[static_cast<std::size_t>(i)])
          << task;
  }
}

TEST(Attribution, IsTheMeanShareOverExamplesThatMatter) {
  const torch::Tensor clean = torch::tensor({0.9, 0.8, 0.5, 0.005}, torch::kFloat64),
                      corrupt = torch::tensor({0.1, 0.2, 0.495, 0.0}, torch::kFloat64),
                      patched = torch::tensor({0.5, 0.8, 0.0, 0.005}, torch::kFloat64);
  const auto found = attribution(clean, corrupt, patched);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->count, 2);  // the effects of the last two are 0.005
  EXPECT_NEAR(found->mean, 0.75, 1e-12);
  EXPECT_NEAR(found->error, 0.25, 1e-12);
  EXPECT_FALSE(attribution(clean, clean, patched));
}

// Block outputs of two layers; what is not given is 0.
KeyEvidence evidence_of(std::vector<std::tuple<std::int64_t, Kind, double>> outputs) {
  KeyEvidence evidence{40, 40, 2, {}};
  for (const auto& [layer, kind, share] : outputs)
    evidence.cells.push_back({1, layer == 0 ? "block input" : "block output", kind, {share, 0.01, 40}});
  return evidence;
}

TEST(Verdict, FollowsItsRules) {
  const auto verdict = [](const KeyEvidence& evidence) { return recall_verdict(evidence).name; };
  EXPECT_EQ(verdict(evidence_of({{0, Kind::value, 0.6}, {1, Kind::query, 0.9}})), "induction");
  EXPECT_EQ(verdict(evidence_of({{0, Kind::key, 0.9}, {0, Kind::value, 0.4}, {1, Kind::query, 0.9}})), "direct");
  EXPECT_EQ(verdict(evidence_of({{0, Kind::query, 0.7}, {1, Kind::query, 0.9}})), "direct");
  // What is at the value after the answer is there does not make it induction.
  EXPECT_EQ(verdict(evidence_of({{0, Kind::query, 0.7}, {0, Kind::value, 0.9}, {1, Kind::query, 0.9}})), "direct");
  EXPECT_EQ(verdict(evidence_of({{0, Kind::filler, 0.8}, {1, Kind::query, 0.9}})), "detour");
  EXPECT_EQ(verdict(evidence_of({{0, Kind::value, 0.8}, {1, Kind::query, 0.2}})), "undecided");
  // The second sentence is about the states of the layer that reads.
  const auto binding = [&](double state_key, double state_value, double window_key, double window_value) {
    KeyEvidence evidence = evidence_of({{0, Kind::key, 0.9}, {1, Kind::query, 0.9}});
    evidence.cells.push_back({1, "state", Kind::key, {state_key, 0, 40}});
    evidence.cells.push_back({1, "state", Kind::value, {state_value, 0, 40}});
    evidence.cells.push_back({1, "convolution's state", Kind::key, {window_key, 0, 40}});
    evidence.cells.push_back({1, "convolution's state", Kind::value, {window_value, 0, 40}});
    return recall_verdict(evidence).sentences.at(1);
  };
  EXPECT_THAT(binding(0.9, 0.9, 0, 0), HasSubstr("has the key before the value is read"));
  EXPECT_THAT(binding(0, 0.9, 0.9, 0), HasSubstr("convolution takes the key to the value"));
  EXPECT_THAT(binding(0, 0.9, 0, 0), HasSubstr("together, at the value"));
  EXPECT_EQ(binding(-0.001, 0, 0.9, 0.9),
            "Key and value enter its state after the value, out of the convolution's window: state after the key 0.00, "
            "after the value 0.00; convolution's state after the key 0.90, after the value 0.90.");
  EXPECT_THAT(binding(0, 0, 0.9, 0.1), HasSubstr("Neither its state nor a convolution"));
  KeyEvidence few = evidence_of({{0, Kind::value, 0.6}, {1, Kind::query, 0.9}});
  few.kept = 9;
  EXPECT_EQ(verdict(few), "nothing");
}

}  // namespace
}  // namespace mneme::inspect
