#include "kernels/simd/blas_core.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace mneme::kernels {
namespace {

constexpr const char* kVariable = "OPENBLAS_CORETYPE";

// A shell in the place of this program: exit code 0 if it was started with the core.
void restart_as_shell(const char* core) {
  char shell[] = "sh", option[] = "-c", command[] = "[ \"$OPENBLAS_CORETYPE\" = SkylakeX ]";
  char* argv[] = {shell, option, command, nullptr};
  restart_with_blas_core(core, "/bin/sh", argv);
  std::_Exit(7);  // it returned
}

TEST(KernelsBlasCore, OneForUnknownModelsIsReplacedByOneForTheInstructions) {
  EXPECT_EQ(better_blas_core("Prescott", true, true), "SkylakeX");
  EXPECT_EQ(better_blas_core("Prescott", true, false), "Haswell");
  EXPECT_EQ(better_blas_core("Prescott", false, false), "");
}

TEST(KernelsBlasCore, OneThatWasRecognisedStays) {
  for (const char* core : {"SkylakeX", "Cooperlake", "SapphireRapids", "Haswell", "Zen", "Sandybridge", "unknown"})
    EXPECT_EQ(better_blas_core(core, true, true), "") << core;
}

TEST(KernelsBlasCoreDeathTest, ProgramIsStartedAgainWithTheBetterCore) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  ::unsetenv(kVariable);
  EXPECT_EXIT(restart_as_shell("SkylakeX"), ::testing::ExitedWithCode(0), "");
  EXPECT_EXIT(restart_as_shell("Haswell"), ::testing::ExitedWithCode(1), "");
}

TEST(KernelsBlasCoreDeathTest, ProgramIsNotStartedAgainTwiceOrWithoutReason) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  ::unsetenv(kVariable);
  EXPECT_EXIT(restart_as_shell(""), ::testing::ExitedWithCode(7), "");
  ::setenv(kVariable, "Haswell", 1);
  EXPECT_EXIT(restart_as_shell("SkylakeX"), ::testing::ExitedWithCode(7), "");
  ::unsetenv(kVariable);
}

TEST(KernelsBlasCore, AProgramThatCannotBeStartedAgainGoesOn) {
  ::unsetenv(kVariable);
  char* argv[] = {nullptr};
  restart_with_blas_core("SkylakeX", "/no/such/program", argv);
  EXPECT_EQ(std::getenv(kVariable), nullptr);
}

}  // namespace
}  // namespace mneme::kernels
