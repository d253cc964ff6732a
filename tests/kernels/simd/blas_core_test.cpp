#include "kernels/simd/blas_core.h"

#include <gtest/gtest.h>

namespace mneme::kernels {
namespace {

TEST(KernelsBlasCore, OneForUnknownModelsIsReplacedByOneForTheInstructions) {
  EXPECT_EQ(better_blas_core("Prescott", true, true), "SkylakeX");
  EXPECT_EQ(better_blas_core("Prescott", true, false), "Haswell");
  EXPECT_EQ(better_blas_core("Prescott", false, false), "");
}

TEST(KernelsBlasCore, OneThatWasRecognisedStays) {
  for (const char* core : {"SkylakeX", "Cooperlake", "SapphireRapids", "Haswell", "Zen", "Sandybridge", "unknown"})
    EXPECT_EQ(better_blas_core(core, true, true), "") << core;
}

}  // namespace
}  // namespace mneme::kernels
