#include "inspect/patterns.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "inspect/inspect_testing.h"

namespace mneme::inspect {
namespace {

using testing::run_from;
using testing::set_parameter;
using torch::Tensor;

constexpr std::int64_t kVocab = 16, kLength = 8, kWidth = 32, kHead = 16;

// Matrices of queries, keys and values [32, 32]: rows are outputs, those of head h from 16 h.
Tensor blank() { return torch::zeros({kWidth, kWidth}, torch::kFloat64); }

void set_attention(const Subject& subject, const std::string& layer, const Tensor& q, const Tensor& k,
                   const Tensor& v) {
  const std::string mixer = "backbone.layers." + layer + ".sequence_mixer.";
  set_parameter(subject, mixer + "Wqkv.weight", torch::cat({q, k, v}));
  set_parameter(subject, mixer + "Wqkv.bias", torch::zeros({1}));
  set_parameter(subject, mixer + "out_proj.weight", torch::eye(kWidth));
  set_parameter(subject, mixer + "out_proj.bias", torch::zeros({1}));
}

config::RunConfig induction_run() {
  return run_from(
      "[task]\nlength = 8\npairs = 2\nvocab = 16\n[model]\nmixer = 'attention'\nblock = 'plain'\nwidth = 32\nlayers = "
      "2\n"
      "positions = 'learned'\n[model.attention]\nnum_heads = 2\n");
}

// Two layers by hand. Channels are [token | position]; layer 0 makes [token | token before]; layer 1 looks for the
// place whose token before is its own token, and reads the token there.
void set_induction(const Subject& subject) {
  const double sharp = 60 * std::sqrt(static_cast<double>(kHead));
  const Tensor tokens = torch::eye(kVocab, torch::kFloat64), places = torch::eye(kLength, torch::kFloat64);
  set_parameter(subject, "backbone.embeddings.word_embeddings.weight",
                torch::cat({tokens, torch::zeros({kVocab, kWidth - kVocab}, torch::kFloat64)}, 1));
  Tensor positions = torch::zeros({kLength, kWidth}, torch::kFloat64);
  positions.narrow(1, kVocab, kLength).copy_(places);
  set_parameter(subject, "backbone.embeddings.position_embeddings.weight", positions);

  Tensor q = blank(), k = blank(), v = blank();
  for (std::int64_t p = 0; p < kLength; ++p) {
    q[p][kVocab + p] = sharp;                         // head 0: its own position
    if (p > 0) q[kHead + p - 1][kVocab + p] = sharp;  // head 1: the one before
    k[p][kVocab + p] = k[kHead + p][kVocab + p] = 1.0;
  }
  v.narrow(0, 0, kVocab).narrow(1, 0, kVocab).copy_(tokens);
  v.narrow(0, kHead, kVocab).narrow(1, 0, kVocab).copy_(tokens);
  set_attention(subject, "0", q, k, v);

  q = blank(), k = blank(), v = blank();
  q.narrow(0, 0, kVocab).narrow(1, 0, kVocab).copy_(sharp * tokens);
  k.narrow(0, 0, kVocab).narrow(1, kVocab, kVocab).copy_(tokens);
  // The first token has none before it and sees itself there: that is taken off.
  k.narrow(0, 0, kVocab).narrow(1, 0, kVocab).copy_(-tokens);
  v.narrow(0, 0, kVocab).narrow(1, 0, kVocab).copy_(tokens);
  set_attention(subject, "1", q, k, v);
}

double score(const Json& result, std::size_t row, const char* pattern) {
  return result["steps"].back()["rows"][row]["scores"][pattern];
}

TEST(PatternScores, OfAnInductionCircuitByHandAreOne) {
  const config::RunConfig run = induction_run();
  const Subject subject(run);
  set_induction(subject);
  const Examples examples = subject.examples(4);
  const Json result = pattern_scores(subject, examples);
  ASSERT_EQ(result["steps"].size(), 1U);
  ASSERT_EQ(result["steps"][0]["rows"].size(), 4U);
  EXPECT_EQ(result["counts"]["value"], 8);
  double worst = 0;
  const auto expect = [&](std::size_t row, const char* pattern, double expected) {
    EXPECT_NEAR(score(result, row, pattern), expected, 1e-9) << row << ", " << pattern;
    worst = std::max(worst, std::abs(score(result, row, pattern) - expected));
  };
  expect(0, "same", 1);
  expect(0, "induction", 0);
  expect(1, "previous", 1);
  expect(1, "previous_at_values", 1);
  expect(2, "induction", 1);
  expect(2, "value", 1);
  expect(2, "key", 0);
  RecordProperty("worst", fmt::format("{:.2g}", worst));

  // It recalls: the loss at every query is that of a logit of 1 against zeros.
  for (std::size_t i = 0; i < 4; ++i)
    for (const std::int64_t t : examples.labelled(i))
      EXPECT_NEAR(subject.losses(examples, {static_cast<std::int64_t>(i)}, {t}).item<double>(),
                  std::log(1 + (kVocab - 1) * std::exp(-1.0)), 1e-6);
}

TEST(PatternScores, OfAnUntrainedModelAreThoseOfLookingAtAllAlike) {
  const config::RunConfig run =
      run_from("[task]\nlength = 32\npairs = 4\nvocab = 64\n[model]\nmixer = 'attention'\nwidth = 32\nlayers = 2\n");
  const Subject subject(run);
  const Json result = pattern_scores(subject, subject.examples(4));
  for (const Json& row : result["steps"][0]["rows"])
    for (const char* pattern : kPatterns)
      EXPECT_NEAR(row["scores"][pattern].get<double>(), result["uniform"][pattern].get<double>(), 0.01) << pattern;
}

TEST(PatternColumns, PointAtWhatIsAsked) {
  const config::RunConfig run = induction_run();
  const Subject subject(run);
  const Examples examples = subject.examples(3);
  for (std::size_t i = 0; i < 3; ++i) {
    const tasks::Example& example = examples.examples[i];
    const PatternColumns columns = pattern_columns(examples, i);
    for (std::size_t t = 0; t < example.tokens.size(); ++t) {
      const std::int64_t value = columns[4][t], key = columns[5][t];
      EXPECT_EQ(value >= 0, example.labels[t] != tasks::kUnlabelled);
      if (value < 0) continue;
      EXPECT_EQ(example.tokens[static_cast<std::size_t>(value)], example.labels[t]);
      EXPECT_EQ(example.tokens[static_cast<std::size_t>(key)], example.tokens[t]);
      EXPECT_EQ(columns[3][t], value);
    }
  }
}

}  // namespace
}  // namespace mneme::inspect
