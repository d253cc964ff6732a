#include "core/error.h"

#include <gtest/gtest.h>

#include "support/expect_error.h"

namespace mneme {
namespace {

using testing::error_of;

TEST(Error, SaysWhereAndWhat) {
  EXPECT_STREQ(Error(ErrorKind::usage, "study.toml:3:1", "wrong").what(), "[study.toml:3:1] wrong");
  EXPECT_STREQ(Error(ErrorKind::usage, "", "wrong").what(), "wrong");
}

TEST(Error, KindsAreTheDocumentedExitCodes) {
  const std::pair<ErrorKind, int> codes[] = {
      {ErrorKind::internal, 1},    {ErrorKind::usage, 2},    {ErrorKind::data, 3},         {ErrorKind::io, 4},
      {ErrorKind::runs_failed, 5}, {ErrorKind::mismatch, 6}, {ErrorKind::interrupted, 130}};
  for (const auto& [kind, code] : codes) EXPECT_EQ(Error(kind, "", "").exit_code(), code);
}

TEST(Check, PassesWhatHolds) { EXPECT_NO_THROW(check(true, "two and two are four")); }

TEST(Check, NamesTheLineOfItsCaller) {
  const int line = __LINE__ + 1;
  const std::string message = error_of(ErrorKind::internal, [] { check(false, "shapes agree"); });
  EXPECT_EQ(message, "[error_test.cpp:" + std::to_string(line) + "] internal error: shapes agree");
}

}  // namespace
}  // namespace mneme
