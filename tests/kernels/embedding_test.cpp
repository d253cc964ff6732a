#include "kernels/embedding.h"

#include <gtest/gtest.h>

#include <vector>

namespace mneme::kernels {
namespace {

TEST(KernelsEmbedding, GatherAndScatterAreEachOthersTranspose) {
  const std::vector<float> table = {1, 2, 3, 4, 5, 6};  // three rows of two
  const std::vector<std::int32_t> index = {2, 0, 2};
  std::vector<float> out(6, -1);
  gather_rows(table.data(), index.data(), 3, 2, out.data());
  EXPECT_EQ(out, (std::vector<float>{5, 6, 1, 2, 5, 6}));

  std::vector<float> gradient(6, 100);
  scatter_add_rows(gradient.data(), index.data(), 3, 2, out.data());
  EXPECT_EQ(gradient, (std::vector<float>{101, 102, 100, 100, 110, 112}));
}

}  // namespace
}  // namespace mneme::kernels
