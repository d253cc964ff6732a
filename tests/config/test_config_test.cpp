#include "config/test_config.h"

#include "support/expect_error.h"

namespace mneme::config {
namespace {

using ::testing::HasSubstr;

RunConfig from(const std::string& toml) { return resolve_run(parse_toml(toml, "run.toml")); }
std::string error_of(const std::string& toml) {
  return testing::error_of(ErrorKind::usage, [&] { from(toml); });
}

// The ids of runs from before there was a table [test] or train.stop_on: stored results are found by them. What has
// another default today keeps the value it had then.
TEST(TestConfig, OldRunsKeepTheirIds) {
  const std::string plain = "train = { micro_batch = 32, eval_examples = 1000 }\n", plain_id = "876ec1ca3cf2";
  const std::pair<std::string, std::string> known[] = {
      {plain, plain_id},
      {"task.name = 'counting'\nmodel = { mixer = 'lstm', block = 'plain' }\n"
       "train = { micro_batch = 10, eval_examples = 1000 }\n",
       "5275e4b988a7"},
      {"task.name = 'state_tracking'\nmodel.mixer = 'mamba'\n"
       "train = { stop_at = 0.9, give_up_after = 0.5, give_up_below = 0.01, micro_batch = 64, eval_examples = 1000 }\n",
       "52d8bfad96af"},
      {"task.name = 'copying'\nmodel.mixer = 's4d'\ntrain = { micro_batch = 29, eval_examples = 1000 }\n",
       "cf2a6da93bfa"},
  };
  for (const auto& [toml, id] : known) {
    EXPECT_EQ(from(toml).id, id) << toml;
    EXPECT_FALSE(from(toml).json().contains("test"));
  }
  // A table that says nothing is as none.
  EXPECT_EQ(from(plain + "[test]\n").id, plain_id);
  EXPECT_EQ(from(plain + "[test]\nalong = ''\nvalues = [64]\nexamples = 7\nphases = false\ntraces = 0\n").id, plain_id);
  EXPECT_EQ(from("train = { micro_batch = 32, eval_examples = 1000, stop_on = 'accuracy', device = 'cpu' }").id,
            plain_id);
  EXPECT_EQ(from("train = { micro_batch = 32, eval_examples = 1000, keep = [] }").id, plain_id);
}

TEST(TestConfig, WhatItSaysIsPartOfTheRun) {
  const RunConfig run =
      from("task.name = 'copying'\nmodel.mixer = 's4d'\n[test]\nalong = 'blanks'\nvalues = [90, 60, 90]\n");
  EXPECT_NE(run.id, "cf2a6da93bfa");
  EXPECT_EQ(run.json()["test"], parse_json(R"({"along": "blanks", "values": [60, 90], "examples": 1000, "phases": false,
                                             "traces": 0})",
                                           "test"));
  EXPECT_NE(from("train = { stop_at = 0.9, stop_on = 'exact_match' }").id, from("train.stop_at = 0.9").id);
  // Nothing asks for the score: the option has no effect, and two spellings of one run have one id.
  EXPECT_EQ(from("train.stop_on = 'exact_match'").id, from("").id);
}

TEST(TestConfig, ResolvingTheCanonicalJsonAgainChangesNothing) {
  for (const char* test :
       {"along = 'length'", "phases = true", "traces = 2", "along = 'length'\nphases = true\ntraces = 1"}) {
    const RunConfig once = from("task.name = 'counting'\nmodel.mixer = 'gru'\n[test]\n" + std::string(test));
    const RunConfig twice = resolve_run(config_from_json(parse_json(canonical(once.json()), "test"), "test"));
    EXPECT_EQ(canonical(once.json()), canonical(twice.json()));
  }
}

TEST(TestConfig, TheValuesAreTheAxisOwnUnlessGiven) {
  const RunConfig run = from("task.name = 'state_tracking'\nmodel.mixer = 'rnn'\ntest.along = 'length'\n");
  EXPECT_EQ(run.test.integers("values"), (std::vector<std::int64_t>{8, 16, 24, 32, 40, 64, 128, 256, 512}));
  const RunConfig longest = at_test_value(run, 512);
  EXPECT_EQ(longest.shape.length, 512);
  EXPECT_EQ(longest.task.integer("length"), 512);
}

TEST(TestConfig, TheMemoryOfATestIsBoundedWhateverTheLength) {
  const RunConfig run =
      from("task.name = 'state_tracking'\nmodel.mixer = 'rnn'\n[test]\nalong = 'length'\nvalues = [8, 512, 8192]\n");
  EXPECT_EQ(at_test_value(run, 8).train.integer("micro_batch"), 256);
  EXPECT_EQ(at_test_value(run, 512).train.integer("micro_batch"), 16);
  EXPECT_EQ(at_test_value(run, 8192).train.integer("micro_batch"), 1);
}

TEST(TestConfig, MistakesAreNamedWithTheirPlace) {
  EXPECT_EQ(error_of("task.name = 'copying'\n[test]\nalong = 'length'\n"),
            "[run.toml:3:1] test.along: got \"length\", expected one of the axes of copying: blanks, pattern");
  EXPECT_THAT(error_of("[test]\nalnog = 'length'\n"),
              HasSubstr("[run.toml:2:1] test: unknown key 'alnog', did you mean 'along'?"));
  EXPECT_THAT(error_of("model.mixer = 'mamba'\n[test]\nalong = 'length'\nvalues = [127]\n"),
              HasSubstr("[run.toml:4:1] test.values: got [127], expected values of length that the task allows"));
  EXPECT_THAT(error_of("[test]\nphases = true\n"), HasSubstr("mqar has no phase tests, only counting has"));
  EXPECT_THAT(error_of("[test]\ntraces = 1\n"), HasSubstr("test.traces: got 1, expected 0: mqar has no signals"));
  EXPECT_THAT(error_of("test = 3"), HasSubstr("test: got 3, expected a table"));
}

// Found when a study is planned, not after an hour of training.
TEST(TestConfig, AModelMadeForOneLengthIsNotTestedBeyondIt) {
  const std::string longer = "\n[test]\nalong = 'length'\nvalues = [64, 128]\n";
  EXPECT_THAT(error_of("model.positions = 'learned'" + longer),
              HasSubstr("length = 128 has 128 steps, and its learned positions (model.max_positions) end at 64"));
  EXPECT_EQ(from("model = { positions = 'learned', max_positions = 128 }" + longer).test.integers("values").size(), 2U);
  EXPECT_THAT(error_of("model.mixer = 'hyena'" + longer), HasSubstr("hyena has parameters for 64 steps"));
  EXPECT_EQ(from("model.mixer = 's4d'" + longer).test.integers("values").size(), 2U);
  EXPECT_THAT(error_of("task = { name = 'counting', length = 20, isi = 4, iti = 8 }\ntest.phases = true\n"),
              HasSubstr("two_isi has"));
}

}  // namespace
}  // namespace mneme::config
