#include "core/code_identity.h"

#include <gtest/gtest.h>

namespace mneme {
namespace {

TEST(CodeIdentity, OfThisProgramIsAVersionAndAHash) {
  EXPECT_EQ(this_code().version.substr(0, std::string(MNEME_VERSION).size()), MNEME_VERSION);
  EXPECT_EQ(this_code().build.size(), 12u);
  EXPECT_EQ(this_code().build.find_first_not_of("0123456789abcdef"), std::string::npos);
}

TEST(CodeIdentity, ReleasesWithOneNumberAreTheSameCodeAndOtherBuildsAreNot) {
  EXPECT_EQ(compare_code({"0.1.0-dev", "aa"}, {"0.1.0-dev", "aa"}), CodeMatch::same);
  EXPECT_EQ(compare_code({"0.1.0-dev", "aa"}, {"0.1.0-dev", "bb"}), CodeMatch::other);
  EXPECT_EQ(compare_code({"0.1.0", "aa"}, {"0.1.0", "bb"}), CodeMatch::same);
  EXPECT_EQ(compare_code({"0.1.0", "aa"}, {"0.2.0", "bb"}), CodeMatch::other);
  EXPECT_EQ(compare_code({"0.1.0", "aa"}, {"0.1.0-dev", "bb"}), CodeMatch::other);
  EXPECT_EQ(compare_code({"0.1.0", ""}, {"0.1.0-dev", "bb"}), CodeMatch::unknown);
  EXPECT_EQ(describe({"0.1.0-dev", "aa"}), "0.1.0-dev, code aa");
  EXPECT_EQ(describe({"", ""}), "unknown code");
}

}  // namespace
}  // namespace mneme
