// What documents quote is what the sources say.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <regex>

#include "core/files.h"
#include "core/text.h"
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

// Every path below a folder of the repository; "NAME" and wildcards mean a file that a reader will add.
std::vector<std::string> named_paths(const std::string& text) {
  std::vector<std::string> paths;
  const std::regex path(
      "(?:^|[^A-Za-z/_.-])((?:src|tests|docs|bench|script|studies|web)/[A-Za-z0-9_./*-]*[A-Za-z0-9_])");
  for (std::sregex_iterator match(text.begin(), text.end(), path), none; match != none; ++match)
    if ((*match)[1].str().find_first_of("*") == std::string::npos &&
        (*match)[1].str().find("NAME") == std::string::npos && (*match)[1].str().find("...") == std::string::npos)
      paths.push_back((*match)[1]);
  return paths;
}

TEST(Documents, PathsInContributingExist) {
  const Path root(source_directory());
  const std::vector<std::string> paths = named_paths(read_file(root / "CONTRIBUTING.md"));
  EXPECT_GT(paths.size(), 20u);
  for (const std::string& path : paths) EXPECT_TRUE(std::filesystem::exists(root / path)) << path;
}

TEST(Documents, PathsInTheReadmeAndTheArchitectureExist) {
  const Path root(source_directory());
  for (const char* document : {"README.md", "docs/architecture.md"})
    for (const std::string& path : named_paths(read_file(root / document)))
      EXPECT_TRUE(std::filesystem::exists(root / path)) << document << ": " << path;
}

TEST(Documents, PathsInThePagesOfMixersExist) {
  const Path root(source_directory());
  for (const auto& page : std::filesystem::directory_iterator(root / "docs/mixers"))
    for (const std::string& path : named_paths(read_file(page.path())))
      EXPECT_TRUE(std::filesystem::exists(root / path)) << page.path() << ": " << path;
}

// Where the kernels moved into their folders, five comments went on naming the old ones.
TEST(Documents, PathsInCommentsOfTheSourcesExist) {
  const Path root(source_directory());
  std::size_t named = 0;
  for (const auto& file : std::filesystem::recursive_directory_iterator(root / "src")) {
    if (file.path().extension() != ".h" && file.path().extension() != ".cpp") continue;
    for (const std::string& line : split(read_file(file.path()), '\n')) {
      const std::size_t comment = line.find("// ");
      if (comment == std::string::npos) continue;
      for (const std::string& path : named_paths(line.substr(comment))) {
        EXPECT_TRUE(std::filesystem::exists(root / path)) << file.path() << ": " << path;
        ++named;
      }
    }
  }
  EXPECT_GT(named, 20u);
}

TEST(Documents, PlantedPathsAreFound) {
  EXPECT_THAT(named_paths("see `src/gone.cpp`, [x](docs/a.md) and script/test -R x; src/NAME.cpp, build/docs/b"),
              ::testing::ElementsAre("src/gone.cpp", "docs/a.md", "script/test"));
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
