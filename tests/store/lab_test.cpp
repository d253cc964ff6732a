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

TEST(Lab, OldNamesOfLeasesWorkForOneRelease) {
  ::setenv("MNEME_CLAIMS", "postgresql://old/db", 1);
  EXPECT_EQ(choose_lab("").leases_address(), "postgresql://old/db");
  EXPECT_EQ(choose_lab("", "postgresql://given/db").leases_address(), "postgresql://given/db");
  ::setenv("MNEME_LEASES", "postgresql://new/db", 1);
  EXPECT_EQ(choose_lab("").leases_address(), "postgresql://new/db");
  ::unsetenv("MNEME_LEASES");
  ::unsetenv("MNEME_CLAIMS");
  EXPECT_EQ(choose_lab("").leases_address(), "");

  const TemporaryDirectory directory;
  const Lab lab(directory.path());
  EXPECT_EQ(lab.leases().filename(), "leases.db");
  write_file_atomically(directory / "claims.db", "");
  write_file_atomically(directory / "claims.id", "name");
  EXPECT_EQ(lab.leases().filename(), "claims.db");
  EXPECT_EQ(lab.leases_id().filename(), "claims.id");
  write_file_atomically(directory / "leases.db", "");
  EXPECT_EQ(lab.leases().filename(), "leases.db") << "a lab that has both uses the new one";
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
