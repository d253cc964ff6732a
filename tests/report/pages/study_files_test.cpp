#include "report/pages/study_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "support/places.h"
#include "support/temporary_directory.h"

namespace mneme::report {
namespace {

using ::testing::HasSubstr;

TEST(StudyFiles, TheDemoIsAStudyOfTwoMixers) {
  const study::Study demo = open_study("demo", {});
  EXPECT_EQ(demo.runs.size(), 16u) << "two mixers, four rates, two seeds";
  EXPECT_EQ(demo.runs[0].task.integer("length"), 32);
  EXPECT_EQ(demo.runs[0].task.integer("pairs"), 4);
  EXPECT_EQ(demo.runs[0].task.integer("vocab"), 48);
  // Slots for three times the pairs, and filler that is none of the tokens: accuracy says what was recalled.
  EXPECT_GE(demo.runs[0].task.integer("length") / 2 - demo.runs[0].task.integer("pairs"),
            3 * demo.runs[0].task.integer("pairs"));
  EXPECT_EQ(demo.runs[0].task.text("filler"), "zero");
  EXPECT_EQ(demo.runs[0].model.integer("layers"), 2);
  EXPECT_TRUE(demo.runs[0].warnings.empty());
  EXPECT_EQ(open_study("demo", {"smoke", {}}).runs.size(), 4u);
}

TEST(StudyFiles, AFileIsFoundByItsPath) {
  const testing::TemporaryDirectory directory;
  write_file_atomically(directory / "mine.toml", "title = \"Mine\"\ntrain.seed = [1, 2]");
  EXPECT_EQ(open_study((directory / "mine.toml").string(), {}).runs.size(), 2u);
}

TEST(StudyFiles, AStudyOfAPaperIsCalledByItsPlace) {
  const study::Study study = open_study("recall/fig1", {});
  EXPECT_EQ(study.name, "recall/fig1");
  EXPECT_EQ(study.file_name(), "recall-fig1-laptop");
  EXPECT_EQ(study::load_study(source_directory() + "/studies/recall/fig1.toml").name, "recall/fig1");
}

TEST(StudyFiles, AnUnknownNameIsAnErrorWithTheNearest) {
  try {
    open_study("demmo", {});
    ADD_FAILURE() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    EXPECT_THAT(error.what(), HasSubstr("did you mean 'demo'"));
  }
}

TEST(StudyFiles, EveryStudyOfTheRepositoryCanBeRead) {
  for (const FoundStudy& study : list_studies()) EXPECT_EQ(study.trouble, "") << study.file;
}

}  // namespace
}  // namespace mneme::report
