#include "serve/export_site.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "store/sample_lab.h"
#include "support/expect_error.h"

namespace mneme::serve {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

TEST(ExportSite, WritesEveryAnswerAsAFile) {
  const testing::SampleLab sample;
  const std::string run = sample.add_done();
  write_file_atomically(sample.lab.studies() / "mine-laptop.json",
                        Json{{"name", "mine"}, {"title", "t"}, {"scale", "laptop"}, {"runs", {run}}}.dump());
  const Path site = sample.directory / "lab-site" / "a";  // next to the lab, with a name that begins alike
  const std::size_t files = export_site(sample.lab, "", site);
  std::size_t found = 0;
  for (const auto& entry : fs::recursive_directory_iterator(site)) found += entry.is_regular_file();
  EXPECT_EQ(found, files);
  const std::string page = read_file(site / "index.html");
  EXPECT_THAT(page, HasSubstr("<meta name=\"mneme\" content=\"static\">"));
  EXPECT_THAT(page,
              HasSubstr("http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src 'self'"));
  for (const char* name : {"app.js", "app.css"}) EXPECT_TRUE(fs::exists(site / name)) << name;
  for (const std::string& name : {std::string("lab"), std::string("runs"), std::string("studies/mine-laptop"),
                                  "runs/" + run, "runs/" + run + "/curves", std::string("papers"),
                                  std::string("papers/A.fig1"), std::string("papers/A.fig1.laptop")}) {
    const Path file = site / "api/v1" / (name + ".json");
    ASSERT_TRUE(fs::exists(file)) << name;
    EXPECT_EQ(parse_json(read_file(file), name)["api"], 1) << name;
  }
  // Nothing comes later in a file.
  const Path study = site / "api/v1/studies/mine-laptop.json";
  EXPECT_FALSE(parse_json(read_file(study), "study")["figures_pending"].get<bool>());
  EXPECT_TRUE(parse_json(read_file(site / "api/v1/lab.json"), "lab")["papers_ready"].get<bool>());
  EXPECT_EQ(export_site(sample.lab, "", site), files) << "again, over the old files";
}

TEST(ExportSite, AFileInTheWayIsAnError) {
  const testing::SampleLab sample;
  write_file_atomically(sample.directory / "file", "x");
  EXPECT_THAT(testing::error_of(ErrorKind::io, [&] { export_site(sample.lab, "", sample.directory / "file"); }),
              HasSubstr("is a file, expected a directory"));
}

TEST(ExportSite, NothingIsWrittenIntoTheLab) {
  const testing::SampleLab sample;
  fs::create_directory_symlink(sample.lab.root(), sample.directory / "link");
  for (const Path& place : {sample.lab.root(), sample.lab.root() / "a" / "site", sample.lab.runs() / ".." / "runs",
                            sample.directory / "link" / "site"})
    EXPECT_THAT(testing::error_of(ErrorKind::usage, [&] { export_site(sample.lab, "", place); }),
                HasSubstr("is in the lab, expected a directory outside of it"))
        << place;
  EXPECT_FALSE(fs::exists(sample.lab.root() / "index.html"));
}

}  // namespace
}  // namespace mneme::serve
