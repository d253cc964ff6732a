// What is asked in another way is kept in another place, and hints lead back to it.
#include <gmock/gmock.h>

#include "cli/app_testing.h"

namespace mneme {
namespace {

using ::testing::HasSubstr;
using testing::joined;
using testing::kTiny;

class Variants : public testing::AppTest {};

TEST_F(Variants, AHintToSweepKeepsTheOverridesOfItsReport) {
  sample.lab.create();
  const ProcessResult result = mneme({"report", "demo", "--scale", "smoke", "train.steps=3", "train.seed=[1, 2]"});
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.err, HasSubstr("mneme sweep demo --scale smoke train.steps=3 'train.seed=[1, 2]'\n"));
}

TEST_F(Variants, WindowsOfOneMixerDoNotOverwriteEachOther) {
  const std::vector<std::string> search =
      joined({"window", "--mixer", "attention", "--rates", "4", "--seeds", "1"}, kTiny);
  ASSERT_EQ(mneme(search).exit_code, 0);
  EXPECT_EQ(report_directories().size(), 1u);
  ASSERT_EQ(mneme(joined(search, {"train.steps=6"})).exit_code, 0);
  EXPECT_EQ(report_directories().size(), 2u) << "other overrides";
  ASSERT_EQ(mneme(joined(search, {"--threshold", "0.5"})).exit_code, 0);
  EXPECT_EQ(report_directories().size(), 3u) << "another threshold";
  ASSERT_EQ(mneme(search).exit_code, 0);
  EXPECT_EQ(report_directories().size(), 3u) << "the first again";
}

TEST_F(Variants, ReportsOfOtherFiltersDoNotOverwriteEachOther) {
  sample.add_done({"model.mixer=attention"}, 0.75, 0.75);
  sample.add_done({"model.mixer=rnn"}, 0.5, 0.5);
  const std::string attention = json({"report", "mixer=attention"})["page"];
  const std::string rnn = json({"report", "mixer=rnn"})["page"];
  EXPECT_NE(attention, rnn);
  EXPECT_THAT(read_file(attention), HasSubstr("attention"));
  EXPECT_EQ(json({"report", "mixer=attention", "seed=42"})["page"],
            json({"report", "seed=42", "mixer=attention"})["page"]);
}

}  // namespace
}  // namespace mneme
