#include "core/schema.h"

#include <gtest/gtest.h>

#include "support/expect_error.h"

namespace mneme {
namespace {

using testing::error_of;
using ::testing::HasSubstr;

Schema schema() {
  return {
      integer_field("length", nullptr, 1, kUnlimited, "tokens of a sequence"),
      integer_field("pairs", 4, 1, 1024, "keys and values"),
      real_field("power", 1, 0, 2, "slot weights"),
      flag_field("random", false, "filler"),
      text_field("note", "", "anything"),
      choice_field("vocab_mode", "split", {"split", "shared"}, "one vocabulary or two"),
      integers_field("lengths", 64, 1, 4096, "of the tests"),
  };
}

Options resolved(const std::string& toml) {
  const ConfigValue root = parse_toml(toml, "s.toml");
  return resolve(schema(), &root, "task");
}

std::string refused(const std::string& toml) {
  return error_of(ErrorKind::usage, [&] { resolved(toml); });
}

TEST(Resolve, FillsDefaults) {
  const Options options = resolved("length = 64");
  EXPECT_EQ(options.integer("length"), 64);
  EXPECT_EQ(options.integer("pairs"), 4);
  EXPECT_EQ(options.real("power"), 1.0);
  EXPECT_FALSE(options.flag("random"));
  EXPECT_EQ(options.text("note"), "");
  EXPECT_EQ(options.text("vocab_mode"), "split");
  EXPECT_EQ(options.integers("lengths"), std::vector<std::int64_t>{64});
  EXPECT_EQ(options.path(), "task");
}

TEST(Resolve, TakesWhatIsGiven) {
  const Options options = resolved(
      "length = 32\npairs = 1024\npower = 0.5\nrandom = true\nnote = 'x'\nvocab_mode = 'shared'\nlengths = [1, 4096]");
  EXPECT_EQ(
      canonical(options.values()),
      R"({"length":32,"lengths":[1,4096],"note":"x","pairs":1024,"power":0.5,"random":true,"vocab_mode":"shared"})");
}

TEST(Resolve, EqualConfigurationsHaveEqualBytes) {
  const std::string plain = canonical(resolved("length = 32").values());
  for (const char* same : {"power = 1", "power = 1.0", "lengths = 64", "lengths = [64]", "pairs = 4"})
    EXPECT_EQ(canonical(resolved(std::string("length = 32\n") + same).values()), plain) << same;
}

TEST(Resolve, UnknownKeysGetASuggestion) {
  EXPECT_EQ(refused("length = 32\nparis = 3"), "[s.toml:2:1] task: unknown key 'paris', did you mean 'pairs'?");
  EXPECT_THAT(refused("length = 32\ncolour = 3"),
              HasSubstr("unknown key 'colour'; known: length, pairs, power, random, note, vocab_mode, lengths"));
}

TEST(Resolve, AlsoKnownKeysArePassedOver) {
  const ConfigValue root = parse_toml("length = 32\nname = 'mqar'", "s.toml");
  EXPECT_THROW(resolve(schema(), &root, "task"), Error);
  EXPECT_FALSE(resolve(schema(), &root, "task", {"name"}).values().contains("name"));
}

TEST(Resolve, MissingKeys) {
  EXPECT_EQ(refused("pairs = 3"), "[s.toml] task: missing key 'length', expected an integer >= 1");
  EXPECT_EQ(error_of(ErrorKind::usage, [] { resolve(schema(), nullptr, "task"); }),
            "[task] task: missing key 'length', expected an integer >= 1");
}

TEST(Resolve, WrongTypesAndLimitsSayWhatIsExpected) {
  const std::pair<const char*, const char*> cases[] = {
      {"length = 'x'", "[s.toml:1:1] task.length: got \"x\", expected an integer >= 1"},
      {"length = 32.5", "task.length: got 32.5, expected an integer >= 1"},
      {"length = true", "task.length: got true, expected an integer >= 1"},
      {"length = [1]", "task.length: got [1], expected an integer >= 1"},
      {"length = 0", "task.length: got 0, expected an integer >= 1"},
      {"length = 1\npairs = 1025", "[s.toml:2:1] task.pairs: got 1025, expected an integer from 1 to 1024"},
      {"length = 1\npower = 2.5", "task.power: got 2.5, expected a number from 0 to 2"},
      {"length = 1\npower = nan", "task.power: got nan, expected a number from 0 to 2"},
      {"length = 1\npower = inf", "task.power: got inf, expected a number"},
      {"length = 1\npower = '1'", "task.power: got \"1\", expected a number"},
      {"length = 1\nrandom = 1", "task.random: got 1, expected true or false"},
      {"length = 1\nnote = 1", "task.note: got 1, expected a string"},
      {"length = 1\nvocab_mode = 'spilt'", "task.vocab_mode: got \"spilt\", expected one of split, shared"},
      {"length = 1\nlengths = []", "task.lengths: got [], expected an integer from 1 to 4096 or a list of them"},
      {"length = 1\nlengths = [1, 0]", "task.lengths: got [1,0], expected"},
      {"length = 1\nlengths = [1, 'x']", "task.lengths: got [1,\"x\"], expected"},
      {"length = 1\nlengths = [[1]]", "task.lengths: got [[1]], expected"},
  };
  for (const auto& [toml, expected] : cases) EXPECT_THAT(refused(toml), HasSubstr(expected)) << toml;
}

TEST(Resolve, UnlimitedIsNotInfinite) {
  const ConfigValue root = parse_toml("gain = inf", "s.toml");
  EXPECT_EQ(error_of(ErrorKind::usage, [&] { resolve({real_field("gain", 1, 0, kUnlimited, "")}, &root, "x"); }),
            "[s.toml:1:1] x.gain: got inf, expected a number >= 0");
}

TEST(Resolve, ANumberMayHaveWordsThatStandForIt) {
  const Schema rank = {or_word(integer_field("rank", "auto", 1, 8, "of a matrix"), {"auto"})};
  const auto options = [&](const std::string& toml) {
    const ConfigValue root = parse_toml(toml, "s.toml");
    return resolve(rank, &root, "mixer");
  };
  EXPECT_TRUE(options("").is_word("rank"));
  EXPECT_TRUE(options("rank = 'auto'").is_word("rank"));
  EXPECT_FALSE(options("rank = 3").is_word("rank"));
  EXPECT_EQ(options("rank = 3").integer("rank"), 3);
  const std::string message = error_of(ErrorKind::usage, [&] { options("rank = 'automatic'"); });
  EXPECT_THAT(message, HasSubstr("expected an integer from 1 to 8 or auto"));
}

TEST(Resolve, NeedsATable) {
  const ConfigValue root = parse_toml("task = 3", "s.toml");
  EXPECT_EQ(error_of(ErrorKind::usage, [&] { resolve(schema(), root.find("task"), "task"); }),
            "[s.toml:1:1] task: got 3, expected a table");
}

TEST(Options, RejectNamesTheOriginOfTheValue) {
  const Options options = resolved("\nlength = 32");
  EXPECT_EQ(error_of(ErrorKind::usage, [&] { options.reject("length", "at least 4 pairs"); }),
            "[s.toml:2:1] task.length: got 32, expected at least 4 pairs");
  EXPECT_EQ(error_of(ErrorKind::usage, [&] { options.reject("pairs", "fewer"); }),
            "[task] task.pairs: got 4, expected fewer")
      << "a default has no origin but its table";
}

TEST(Options, AskingForWhatIsNotInTheSchemaIsADefect) {
  const Options options = resolved("length = 32");
  EXPECT_THAT(error_of(ErrorKind::internal, [&] { options.integer("width"); }), HasSubstr("task.width"));
}

TEST(Options, SetKeepsDerivedValues) {
  Options options = resolved("length = 32");
  options.set("length", 33);
  EXPECT_EQ(options.integer("length"), 33);
}

TEST(Options, ACopyThatIsSetLeavesTheOther) {
  const Options first = defaults({integer_field("width", 64, 1, 128, "")}, "model");
  Options second = first;
  second.set("width", 32);
  EXPECT_EQ(first.integer("width"), 64);
  EXPECT_EQ(second.integer("width"), 32);
}

TEST(Defaults, AreTheFallbacks) {
  EXPECT_EQ(canonical(defaults({integer_field("a", 1, 0, 9, ""), flag_field("b", true, "")}, "x").values()),
            R"({"a":1,"b":true})");
}

}  // namespace
}  // namespace mneme
