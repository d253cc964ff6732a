// What documents quote is what the sources say.
#include <gtest/gtest.h>

#include "core/files.h"

namespace mneme {
namespace {

TEST(Documents, TheMixerInContributingIsTheOneOnTheList) {
  const Path root(MNEME_SOURCE_DIR);
  const std::string text = read_file(root / "CONTRIBUTING.md"), source = read_file(root / "src/mixers/ema.cpp");
  const std::string open = "```cpp\n", close = "\n```";
  const std::size_t begin = text.find(open), end = text.find(close, begin);
  ASSERT_NE(end, std::string::npos);
  const std::string quoted = text.substr(begin + open.size(), end - begin - open.size());
  EXPECT_NE(quoted.find("class Ema"), std::string::npos);
  EXPECT_NE(source.find(quoted), std::string::npos) << quoted;
}

}  // namespace
}  // namespace mneme
