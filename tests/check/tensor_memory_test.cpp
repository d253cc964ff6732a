#include "check/tensor_memory.h"

#include <gtest/gtest.h>

#include "ops/torch.h"

namespace mneme::check {
namespace {

TEST(TensorMemory, PeakIsWhatWasHeldTogether) {
  const std::int64_t peak = peak_tensor_memory([] {
    { const torch::Tensor gone = torch::empty({1000}); }
    const torch::Tensor a = torch::empty({2000}), b = torch::empty({500});
  });
  EXPECT_EQ(peak, 2500 * 4);
}

TEST(TensorMemory, WhatIsOlderOrReleasedDoesNotCount) {
  const torch::Tensor before = torch::empty({10000});
  const std::int64_t peak = peak_tensor_memory([] {
    for (int i = 0; i < 10; ++i) torch::empty({100});
  });
  EXPECT_EQ(peak, 100 * 4);
}

}  // namespace
}  // namespace mneme::check
