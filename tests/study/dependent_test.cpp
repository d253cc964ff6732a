#include "study/dependent.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "study/grid.h"
#include "support/expect_error.h"

namespace mneme::study {
namespace {

using testing::error_of;
using ::testing::HasSubstr;

std::optional<double> value(std::string_view text) {
  return evaluate_expression(text, "here", [](std::string_view name) -> std::optional<double> {
    if (name == "length") return 64;
    if (name == "model.width") return 3;
    return std::nullopt;
  });
}

TEST(Expression, FollowsTheRulesOfArithmetic) {
  EXPECT_EQ(value("2 + 3 * 4 - 10 / 5"), 12);
  EXPECT_EQ(value("-(2 + 3) * -2"), 10);
  EXPECT_EQ(value("length"), 64);
  EXPECT_EQ(value("= 16384 / length"), 256);
  EXPECT_EQ(value("max(2, min(length, 1e2)) / model.width"), 64.0 / 3);
  for (const char* none : {"", "fast", "length length", "2 +", "(2", "min(2)", "2 $ 3", "logspace(1, 2, 3)"})
    EXPECT_EQ(value(none), std::nullopt) << none;
  EXPECT_EQ(value(std::string(5000, '(')), std::nullopt);
}

TEST(Expression, SaysWhatIsWrongWhereItIsSure) {
  EXPECT_THAT(error_of(ErrorKind::usage, [] { value("= 2 * lenght"); }), HasSubstr("[here] unknown name 'lenght'"));
  EXPECT_THAT(error_of(ErrorKind::usage, [] { value("= 2 *"); }), HasSubstr("expected arithmetic"));
  EXPECT_THAT(error_of(ErrorKind::usage, [] { value("1 / 0"); }), HasSubstr("divides by zero"));
}

ConfigValue settled(const std::string& toml) {
  ConfigValue root = parse_toml(toml, "s.toml");
  settle_dependents(root);
  return root;
}

TEST(Dependent, BatchByLengthPositionsAndStateFollow) {
  const ConfigValue root = settled(
      "[task]\nlength = 128\n[model]\nmixer = \"mamba\"\nmax_positions = \"= task.length\"\nmamba = { d_state = "
      "\"length\" }\n"
      "[train]\nbatch = { by = \"length\", 64 = 512, 128 = 256, default = 8 }\nsteps = \"batch * 2\"\n");
  EXPECT_EQ(config_to_json(root)["model"]["mamba"]["d_state"], 128);
  EXPECT_EQ(config_to_json(root)["model"]["max_positions"], 128);
  EXPECT_EQ(config_to_json(root)["train"]["batch"], 256);
  EXPECT_EQ(config_to_json(root)["train"]["steps"], 512) << "one may depend on another";
}

TEST(Dependent, DefaultsCountWhereNothingIsWritten) {
  EXPECT_EQ(config_to_json(settled("[train]\nbatch = \"2 * task.length\"\n"))["train"]["batch"],
            2 * config::resolve_run(ConfigValue{ConfigTable{}, ""}).task.integer("length"));
}

TEST(Dependent, MistakesAreNamedWithTheirPlace) {
  const auto message = [](const std::string& toml) { return error_of(ErrorKind::usage, [&] { settled(toml); }); };
  EXPECT_EQ(message("[train]\nbatch = \"steps\"\nsteps = \"batch\"\n"),
            "[s.toml:2:1] train.batch depends on itself, expected another name");
  EXPECT_EQ(message("[task]\nlength = 32\n[train]\nbatch = { by = \"length\", 64 = 2 }\n"),
            "[s.toml:4:1] train.batch: no entry for length = 32, expected one, or a default");
  EXPECT_THAT(message("[train]\nbatch = { by = \"lenght\" }\n"), HasSubstr("unknown name 'lenght'"));
}

TEST(Dependent, WorksInAGrid) {
  const Grid grid(parse_toml("[task]\nlength = [32, 64]\npairs = \"length / 16\"\nvocab = 256\n", "s.toml"));
  const auto runs = grid.runs();
  ASSERT_EQ(runs.size(), 2u);
  EXPECT_EQ(runs[0].task.integer("pairs"), 2);
  EXPECT_EQ(runs[1].task.integer("pairs"), 4);
}

}  // namespace
}  // namespace mneme::study
