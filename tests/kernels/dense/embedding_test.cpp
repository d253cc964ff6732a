#include "kernels/dense/embedding.h"

#include <gtest/gtest.h>

#include <vector>

#include "kernels/kernel_arrays.h"
#include "kernels/targets.h"

namespace mneme::kernels {
namespace {

using mneme::testing::GuardedArray;

TEST(KernelsEmbedding, ReferenceByHand) {
  const std::vector<float> table = {1, 2, 3, 4, 5, 6}, places = {10, 20, 30, 40};  // rows of two
  const std::vector<std::int32_t> index = {2, 0, 2, 2};
  const TokenRows tokens{2, 2, 2, index.data()};
  std::vector<float> out(8, -1);
  embed_tokens_reference(tokens, table.data(), nullptr, out.data());
  EXPECT_EQ(out, (std::vector<float>{5, 6, 1, 2, 5, 6, 5, 6}));
  embed_tokens_reference(tokens, table.data(), places.data(), out.data());
  EXPECT_EQ(out, (std::vector<float>{15, 26, 31, 42, 15, 26, 35, 46}));

  const std::vector<float> dout = {1, 2, 3, 4, 5, 6, 7, 8};
  std::vector<float> dtable(6, 100), dplaces(4, 200);
  embed_tokens_backward_reference(tokens, dout.data(), dtable.data(), dplaces.data());
  EXPECT_EQ(dtable, (std::vector<float>{103, 104, 100, 100, 113, 116}));
  EXPECT_EQ(dplaces, (std::vector<float>{206, 208, 210, 212}));
}

// Sums in the same order: no rounding of its own.
KERNEL_TEST(KernelsEmbedding, IsTheReferenceToTheBit) {
  for (const std::size_t D : {1, 7, 16, 33, 64})
    for (const bool with_places : {false, true}) {
      const std::size_t B = 3, L = 5, rows = 4;
      GuardedArray table(rows * D, 1), places(L * D, 1), dout(B * L * D, 1);
      table.fill_normal(1);
      places.fill_normal(2);
      dout.fill_normal(3);
      std::vector<std::int32_t> index;
      for (std::size_t t = 0; t < B * L; ++t) index.push_back(static_cast<std::int32_t>(t * t % rows));
      const TokenRows tokens{B, L, D, index.data()};
      const auto run = [&](auto forward, auto backward) {
        GuardedArray out(B * L * D, 1), dtable(rows * D, 1), dplaces(L * D, 1);
        dtable.fill_normal(4);
        dplaces.fill_normal(5);
        forward(tokens, table.data(), with_places ? places.data() : nullptr, out.data());
        backward(tokens, dout.data(), dtable.data(), with_places ? dplaces.data() : nullptr);
        EXPECT_TRUE(out.margins_intact() && dtable.margins_intact() && dplaces.margins_intact());
        return std::vector{out.values(), dtable.values(), dplaces.values()};
      };
      EXPECT_EQ(run(embed_tokens, embed_tokens_backward), run(embed_tokens_reference, embed_tokens_backward_reference))
          << D;
    }
}

}  // namespace
}  // namespace mneme::kernels
