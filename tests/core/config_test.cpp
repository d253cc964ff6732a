#include "core/config.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/expect_error.h"
#include "support/temporary_directory.h"

namespace mneme {
namespace {

using testing::error_of;
using ::testing::HasSubstr;

constexpr const char* kStudy = R"(title = "Windows"
[task]
name = "mqar"
  length = 64
[model]
mixer = ["attention", "mamba"]
[scale.laptop]
train = { lr = 1e-3, fresh = true }
)";

const ConfigValue& at(const ConfigValue& root, const std::vector<std::string>& path) {
  const ConfigValue* value = &root;
  for (const auto& key : path) {
    value = value->find(key);
    require(value != nullptr, "the test's config has " + key);
  }
  return *value;
}

TEST(ParseToml, KeepsValuesAndTypes) {
  const ConfigValue root = parse_toml(kStudy, "s.toml");
  EXPECT_EQ(config_to_json(root), Json::parse(R"({"title": "Windows", "task": {"name": "mqar", "length": 64},
    "model": {"mixer": ["attention", "mamba"]}, "scale": {"laptop": {"train": {"lr": 0.001, "fresh": true}}}})"));
  EXPECT_EQ(at(root, {"task", "length"}).type_name(), "an integer");
  EXPECT_EQ(at(root, {"scale", "laptop", "train", "lr"}).type_name(), "a number");
  EXPECT_EQ(at(root, {"model", "mixer"}).type_name(), "a list");
  EXPECT_EQ(root.find("nothing"), nullptr);
}

TEST(ParseToml, EveryValueKnowsItsLineAndColumn) {
  const ConfigValue root = parse_toml(kStudy, "s.toml");
  EXPECT_EQ(root.origin, "s.toml");
  EXPECT_EQ(at(root, {"title"}).origin, "s.toml:1:1");
  EXPECT_EQ(at(root, {"task", "name"}).origin, "s.toml:3:1");
  EXPECT_EQ(at(root, {"task", "length"}).origin, "s.toml:4:3");
  EXPECT_EQ(at(root, {"model", "mixer"}).array().at(1).origin, "s.toml:6:23");
  EXPECT_EQ(at(root, {"scale", "laptop", "train", "lr"}).origin, "s.toml:8:11");
}

TEST(ParseToml, SyntaxErrorsHaveFileLineAndColumn) {
  EXPECT_THAT(error_of(ErrorKind::usage, [] { parse_toml("a = 1\nb = = 2\n", "s.toml"); }),
              HasSubstr("[s.toml:2:5] not valid TOML"));
  EXPECT_THAT(error_of(ErrorKind::usage, [] { parse_toml("a = 1\na = 2\n", "s.toml"); }), HasSubstr("[s.toml:2:"));
  EXPECT_THAT(error_of(ErrorKind::usage, [] { parse_toml("a = \"\xFF\"\n", "s.toml"); }), HasSubstr("[s.toml:1:"));
  EXPECT_THAT(
      error_of(ErrorKind::usage, [] { parse_toml(fmt::format("a = {}", std::string(100'000, '[')), "s.toml"); }),
      HasSubstr("[s.toml:1:"));
}

TEST(ParseToml, AValueThatIsNotFinishedIsAnErrorAndNoAbort) {
  for (const char* text :
       {"x = [", "x = [ }", "x = { y = [ }\n", "x = [1,", "x = {", "x = ", "x = { y = ", "x = [[", "x = [}"})
    EXPECT_THAT(error_of(ErrorKind::usage, [&] { parse_toml(text, "s.toml"); }), HasSubstr("not valid TOML")) << text;
}

TEST(ParseToml, RefusesDates) {
  EXPECT_THAT(error_of(ErrorKind::usage, [] { parse_toml("x = 1\nwhen = 2024-02-03\n", "s.toml"); }),
              HasSubstr("[s.toml:2:8] a date"));
}

TEST(LoadToml, NamesTheFile) {
  testing::TemporaryDirectory directory;
  const Path path = directory / "s.toml";
  write_file_atomically(path, "[task]\nname = \"mqar\"\n");
  EXPECT_EQ(at(load_toml(path), {"task", "name"}).origin, path.string() + ":2:1");
  EXPECT_THAT(error_of(ErrorKind::data, [&] { load_toml(directory / "none.toml"); }),
              HasSubstr("none.toml] cannot open"));
}

TEST(ConfigJson, RoundTrips) {
  const Json json = Json::parse(R"({"a": {"b": [1, 2.5, "x", true]}, "c": -7})");
  const ConfigValue value = config_from_json(json, "request");
  EXPECT_EQ(config_to_json(value), json);
  EXPECT_EQ(at(value, {"a", "b"}).array().at(2).origin, "request");
}

TEST(ConfigJson, RefusesNullAndHugeIntegers) {
  EXPECT_THAT(error_of(ErrorKind::usage, [] { config_from_json(Json::parse(R"({"a": null})"), "request"); }),
              HasSubstr("[request] null"));
  EXPECT_THAT(error_of(ErrorKind::usage, [] { config_from_json(Json(UINT64_MAX), "request"); }),
              HasSubstr("too large"));
}

TEST(Shown, IsShortAndWellFormed) {
  EXPECT_EQ(parse_toml("a = nan", "f").find("a")->shown(), "nan");
  EXPECT_EQ(parse_toml("a = [1, true]", "f").find("a")->shown(), "[1,true]");
  std::string accents;
  for (int i = 0; i < 40; ++i) accents += "\xC3\xA9";
  const std::string shown = parse_toml("a = \"" + accents + "\"", "f").find("a")->shown();
  EXPECT_LE(shown.size(), 60U);
  EXPECT_NO_THROW(Json(shown).dump()) << "cut inside a character";
}

Json overridden(std::string_view assignment) {
  ConfigValue root;
  apply_override(root, assignment);
  return config_to_json(root);
}

TEST(Override, ReadsTomlTypes) {
  EXPECT_EQ(overridden("train.steps=100"), Json::parse(R"({"train": {"steps": 100}})"));
  EXPECT_EQ(overridden("a=1e-3"), Json({{"a", 1e-3}}));
  EXPECT_EQ(overridden("a=true"), Json({{"a", true}}));
  EXPECT_EQ(overridden("a=\"7\""), Json({{"a", "7"}}));
  EXPECT_EQ(overridden("a=[1, 2]"), Json::parse(R"({"a": [1, 2]})"));
  EXPECT_EQ(overridden("a={b = 1}"), Json::parse(R"({"a": {"b": 1}})"));
  EXPECT_EQ(overridden("a.b.c.d=1"), Json::parse(R"({"a": {"b": {"c": {"d": 1}}}})"));
}

TEST(Override, WhatIsNotTomlIsAPlainString) {
  for (const char* text : {"mamba", "logspace(1e-4, 1e-1, 7)", "", "a=b", "1 # one", "1\ny = 2", "1 }\nz = { y = 2",
                           "1, z = 2", "1,", "1.2.3", "\"open", "[", "[1, ", "{"})
    EXPECT_EQ(overridden(std::string("a=") + text), Json({{"a", text}})) << text;
}

TEST(Override, ReplacesAndKeepsTheRest) {
  ConfigValue root = parse_toml("[task]\nname = \"mqar\"\nlength = 64\n", "s.toml");
  apply_override(root, "task.length=128");
  EXPECT_EQ(config_to_json(root), Json::parse(R"({"task": {"name": "mqar", "length": 128}})"));
  EXPECT_EQ(at(root, {"task", "length"}).origin, "override 'task.length=128'");
  EXPECT_EQ(at(root, {"task", "name"}).origin, "s.toml:2:1");
}

TEST(Override, ErrorsNameTheOverride) {
  const auto message = [](std::string_view assignment) {
    return error_of(ErrorKind::usage, [&] {
      ConfigValue root = parse_toml("[task]\nlength = 64\n", "s.toml");
      apply_override(root, assignment);
    });
  };
  EXPECT_THAT(message("--fast"), HasSubstr("[override '--fast'] not an override, expected path.to.key=value"));
  EXPECT_THAT(message("=3"), HasSubstr("not an override"));
  EXPECT_THAT(message("task..length=3"), HasSubstr("an empty key"));
  EXPECT_THAT(message("task.=3"), HasSubstr("an empty key"));
  EXPECT_THAT(message("task.length.max=3"), HasSubstr("'length' is an integer (at s.toml:2:1), expected a table"));
  EXPECT_THAT(message("a=2024-02-03"), HasSubstr("a date"));
  EXPECT_THAT(message("a=\xFF"), HasSubstr("not UTF-8"));
}

TEST(Merged, TablesKeyByKeyTheRestReplaced) {
  const ConfigValue lower = parse_toml("a = [1, 2]\n[t]\nx = 1\ny = 2\n[u]\nz = 1\n", "lower.toml");
  const ConfigValue upper = parse_toml("a = [3]\nu = 5\n[t]\ny = 3\nw = { v = 1 }\n", "upper.toml");
  const ConfigValue both = merged(lower, upper);
  EXPECT_EQ(config_to_json(both), Json::parse(R"({"a": [3], "t": {"x": 1, "y": 3, "w": {"v": 1}}, "u": 5})"));
  EXPECT_EQ(at(both, {"t", "x"}).origin, "lower.toml:3:1");
  EXPECT_EQ(at(both, {"t", "y"}).origin, "upper.toml:4:1");
  EXPECT_EQ(config_to_json(merged(lower, ConfigValue{})), config_to_json(lower));
  EXPECT_EQ(config_to_json(merged(ConfigValue{}, upper)), config_to_json(upper));
}

}  // namespace
}  // namespace mneme
