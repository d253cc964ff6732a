// What documents quote is what the sources say.
#include <gtest/gtest.h>

#include "core/files.h"
#include "report/claims/claims.h"
#include "support/places.h"

namespace mneme {
namespace {

TEST(Documents, TheMixerInContributingIsTheOneOnTheList) {
  const Path root(source_directory());
  const std::string text = read_file(root / "CONTRIBUTING.md"), source = read_file(root / "src/mixers/ema.cpp");
  const std::string open = "```cpp\n", close = "\n```";
  const std::size_t begin = text.find(open), end = text.find(close, begin);
  ASSERT_NE(end, std::string::npos);
  const std::string quoted = text.substr(begin + open.size(), end - begin - open.size());
  EXPECT_NE(quoted.find("class Ema"), std::string::npos);
  EXPECT_NE(source.find(quoted), std::string::npos) << quoted;
}

// A line of the table: | `A.window-mamba` | figure 1 | statement | the paper's words | rule | study |.
TEST(Documents, ClaimsMdHasEveryClaimAndItsRule) {
  const std::string text = read_file(Path(source_directory()) / "docs/claims.md");
  for (const report::Claim& claim : report::claim_list()) {
    const std::string line = "| `" + claim.id + "` | " + claim.where + " | " + claim.statement + " | " + claim.words +
                             " | " + claim.rule + " |";
    EXPECT_NE(text.find(line), std::string::npos) << line;
  }
}

}  // namespace
}  // namespace mneme
