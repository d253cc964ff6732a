#include "store/lab.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include "core/error.h"
#include "support/temporary_directory.h"

namespace mneme::store {
namespace {

using testing::TemporaryDirectory;

ErrorKind kind_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.kind();
  }
  return ErrorKind::internal;
}

TEST(Lab, ChoosesTheGivenThenTheEnvironmentThenTheDefault) {
  ::setenv("MNEME_LAB", "/from/environment", 1);
  EXPECT_EQ(choose_lab("given").root(), "given");
  EXPECT_EQ(choose_lab("").root(), "/from/environment");
  ::setenv("MNEME_LAB", "", 1);
  EXPECT_EQ(choose_lab("").root(), "lab");
  ::unsetenv("MNEME_LAB");
  EXPECT_EQ(choose_lab("").root(), "lab");
}

TEST(Lab, CreateMakesTheDirectoriesAndRequireAcceptsThem) {
  const TemporaryDirectory directory;
  const Lab lab(directory / "deep/lab");
  EXPECT_EQ(kind_of([&] { lab.require(); }), ErrorKind::data);
  lab.create();
  lab.create();
  lab.require();
  EXPECT_TRUE(std::filesystem::is_directory(lab.runs()));
  EXPECT_TRUE(std::filesystem::is_directory(lab.reports()));
}

TEST(Lab, AFileInItsPlaceIsRefused) {
  const TemporaryDirectory directory;
  write_file_atomically(directory / "lab", "a file");
  EXPECT_EQ(kind_of([&] { Lab(directory / "lab").create(); }), ErrorKind::io);
  EXPECT_EQ(kind_of([&] { Lab(directory / "lab").require(); }), ErrorKind::io);
  EXPECT_EQ(read_file(directory / "lab"), "a file");
}

}  // namespace
}  // namespace mneme::store
