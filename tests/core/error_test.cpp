#include "core/error.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "core/files.h"
#include "support/expect_error.h"
#include "support/places.h"

namespace mneme {
namespace {

using testing::error_of;

TEST(Error, SaysWhereAndWhat) {
  EXPECT_STREQ(Error(ErrorKind::usage, "study.toml:3:1", "wrong").what(), "[study.toml:3:1] wrong");
  EXPECT_STREQ(Error(ErrorKind::usage, "", "wrong").what(), "wrong");
}

TEST(Error, KindsAreTheDocumentedExitCodes) {
  struct Row {
    ErrorKind kind;
    int code;
    const char* name;
  };
  const Row rows[] = {{ErrorKind::internal, 1, "internal"},
                      {ErrorKind::usage, 2, "usage"},
                      {ErrorKind::data, 3, "data"},
                      {ErrorKind::io, 4, "io"},
                      {ErrorKind::runs_failed, 5, "runs_failed"},
                      {ErrorKind::mismatch, 6, "mismatch"},
                      {ErrorKind::interrupted, 130, "interrupted"}};
  const std::string page = read_file(Path(source_directory()) / "docs" / "exit-codes.md");
  for (const auto& [kind, code, name] : rows) {
    EXPECT_EQ(Error(kind, "", "").exit_code(), code);
    EXPECT_THAT(page, ::testing::HasSubstr("| " + std::to_string(code) + " | " + name + " |"));
  }
}

TEST(Check, PassesWhatHolds) { EXPECT_NO_THROW(require(true, "two and two are four")); }

TEST(Check, NamesTheLineOfItsCaller) {
  const int line = __LINE__ + 1;
  const std::string message = error_of(ErrorKind::internal, [] { require(false, "shapes agree"); });
  EXPECT_EQ(message, fmt::format("[error_test.cpp:{}] internal error: shapes agree", line));
}

}  // namespace
}  // namespace mneme
