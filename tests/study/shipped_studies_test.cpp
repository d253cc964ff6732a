// The study files that come with Mneme: each can be planned at each of its scales.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "core/error.h"
#include "study/study.h"
#include "support/places.h"

namespace mneme::study {
namespace {

using ::testing::AnyOf;
using ::testing::ElementsAre;
using ::testing::StartsWith;

bool is_of_the_card(const Path& file) { return file.parent_path().filename() == "card"; }

// The tests of the card have scales of their own.
std::vector<Path> study_files(bool of_the_card = false) {
  std::vector<Path> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(source_directory() + "/studies"))
    if (entry.path().extension() == ".toml" && is_of_the_card(entry.path()) == of_the_card)
      files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

std::set<std::int64_t> seeds_of(const Study& study) {
  std::set<std::int64_t> seeds;
  for (const config::RunConfig& run : study.runs) seeds.insert(run.train.integer("seed"));
  return seeds;
}

std::set<std::string> mixers_of(const Study& study) {
  std::set<std::string> mixers;
  for (const config::RunConfig& run : study.runs) mixers.insert(run.model.text("mixer"));
  return mixers;
}

class ShippedStudy : public ::testing::TestWithParam<Path> {
 protected:
  Study at(const char* scale) const { return load_study(GetParam(), {scale, {}}); }
};

TEST_P(ShippedStudy, HasItsScalesAndSaysWhatItIs) {
  EXPECT_THAT(read_file(GetParam()), StartsWith("# "));
  const Study study = at("none");
  EXPECT_THAT(study.scales,
              AnyOf(ElementsAre("laptop", "paper", "smoke"), ElementsAre("laptop", "paper", "smoke", "workstation")));
  EXPECT_NE(study.title, study.name);
}

TEST_P(ShippedStudy, LoadsAtEachScale) {
  const Study smoke = at("smoke"), laptop = at("laptop"), paper = at("paper");
  EXPECT_EQ(mixers_of(smoke), mixers_of(paper));
  // A laptop may have fewer; the file says which.
  for (const std::string& mixer : mixers_of(laptop)) EXPECT_TRUE(mixers_of(paper).contains(mixer)) << mixer;
  EXPECT_LE(smoke.runs.size(), 48U);
  EXPECT_LE(laptop.runs.size(), paper.runs.size());
  for (const config::RunConfig& run : smoke.runs) EXPECT_LE(run.train.integer("steps"), 20) << run.id;
}

// With as many slots as pairs every slot is a query, and a model can answer by position alone.
TEST_P(ShippedStudy, RecallLeavesThreeSlotsAPair) {
  for (const char* scale : {"laptop", "workstation"}) {
    const Study outline = at("none");
    if (std::find(outline.scales.begin(), outline.scales.end(), scale) == outline.scales.end()) continue;
    for (const config::RunConfig& run : at(scale).runs) {
      if (run.task_entry->name != "mqar") continue;
      const std::int64_t pairs = run.task.integer("pairs"), slots = (run.task.integer("length") - 2 * pairs) / 2;
      EXPECT_GE(slots, 3 * pairs) << scale << ' ' << run.id;
    }
  }
}

std::string test_name(const ::testing::TestParamInfo<Path>& info) {
  std::string name = info.param.parent_path().filename().string() + "_" + info.param.stem().string();
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return !std::isalnum(c); }, '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(All, ShippedStudy, ::testing::ValuesIn(study_files()), test_name);

// The studies of the papers, at the scale whose results are kept.
TEST(ShippedStudies, OfTheCardLoadWithAndWithoutTheirSmokeScale) {
  const std::vector<Path> files = study_files(true);
  EXPECT_EQ(files.size(), 9U);
  for (const Path& file : files) {
    EXPECT_EQ(load_study(file, {"none", {}}).scales, std::vector<std::string>{"smoke"}) << file;
    for (const config::RunConfig& run : load_study(file, {"smoke", {}}).runs)
      EXPECT_LE(run.train.integer("steps"), 20) << file;
  }
}

TEST(ShippedStudies, OfThePapersHaveThreeSeedsOnALaptop) {
  for (const Path& file : study_files())
    if (const auto folder = file.parent_path().filename(); folder == "recall" || folder == "memory") {
      EXPECT_GE(seeds_of(load_study(file, {"laptop", {}})).size(), 3U) << file;
      EXPECT_EQ(seeds_of(load_study(file, {"paper", {}})).size(), 5U) << file;
    }
}

}  // namespace
}  // namespace mneme::study
