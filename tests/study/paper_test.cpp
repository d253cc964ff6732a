#include "study/paper.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "study/study.h"
#include "support/expect_error.h"

namespace mneme::study {
namespace {

using ::testing::HasSubstr;

const std::string kRuns =
    "task.name = \"mqar\"\nmodel.mixer = [\"attention\", \"mamba\"]\nmodel.width = [16, 32]\ntrain.lr = 1e-3\n";

std::string message(const std::string& paper) {
  return testing::error_of(ErrorKind::usage, [&] { parse_study(kRuns + paper, "s.toml"); });
}

TEST(Paper, ValuesAreFoundByTheirConditions) {
  const Study study =
      parse_study(kRuns +
                      "[[paper]]\nmodel.mixer = \"mamba\"\nmodel.width = \">= 32\"\nvalue = 0.5\n"
                      "[[paper]]\nmodel.mixer = \"mamba\"\nat = 16\npasses = true\n"
                      "[[paper]]\nmodel.mixer = \"mamba\"\nmetric = \"phases.two_isi\"\npasses = false\n",
                  "s.toml");
  ASSERT_EQ(study.paper.size(), 3u);
  const auto config = [](const char* mixer, int width) {
    return Json{{"model", {{"mixer", mixer}, {"width", width}}}};
  };
  EXPECT_EQ(find_paper_value(study.paper, config("attention", 32)), nullptr);
  ASSERT_NE(find_paper_value(study.paper, config("mamba", 32)), nullptr);
  EXPECT_EQ(find_paper_value(study.paper, config("mamba", 32))->shown(), "50.0");
  EXPECT_EQ(find_paper_value(study.paper, config("mamba", 16)), nullptr);
  EXPECT_EQ(find_paper_value(study.paper, config("mamba", 16), 16)->shown(), "✓");
  EXPECT_EQ(find_paper_value(study.paper, config("mamba", 16), 17), nullptr);
  EXPECT_EQ(find_paper_value(study.paper, config("mamba", 16), {}, "phases.two_isi")->shown(), "✗");
}

TEST(Paper, MistakesAreNamedWithTheirPlace) {
  EXPECT_THAT(
      message("[[paper]]\nmodel.mixr = \"mamba\"\nvalue = 1.0"),
      HasSubstr("[s.toml:6:7] paper: no run of this study has a field 'model.mixr', did you mean 'model.mixer'?"));
  EXPECT_THAT(message("[[paper]]\nmodel.mixer = \"mamba\""), HasSubstr("expected value, passes or says as well"));
  EXPECT_THAT(message("[[paper]]\nvalue = 1.0"), HasSubstr("paper: a rule without conditions"));
  EXPECT_THAT(message("[[paper]]\nmodel.mixer = \"mamba\"\nvalue = 99"),
              HasSubstr("got 99, expected a number from 0 to 1"));
  EXPECT_THAT(message("[[paper]]\nmodel.mixer = \"mamba\"\npasses = 1"),
              HasSubstr("paper.passes: got 1, expected true or false"));
  EXPECT_THAT(message("paper = 3"), HasSubstr("expected tables [[paper]]"));
}

}  // namespace
}  // namespace mneme::study
