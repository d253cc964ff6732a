#include "kernels/simd/aligned_floats.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "core/shortage.h"
#include "kernels/attention/causal_attention.h"
#include "kernels/conv/cauchy.h"
#include "kernels/conv/long_conv.h"
#include "kernels/dense/layer_norm.h"
#include "kernels/dense/linear.h"
#include "kernels/scan/rwkv5.h"

namespace mneme::kernels {
namespace {

using ::testing::StartsWith;

// What `body` throws; "" if nothing.
std::string message_of(const std::function<void()>& body) {
  try {
    body();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::runs_failed);
    return error.what();
  }
  return "";
}

TEST(KernelsAlignedFloats, StartOnWholeVectorsAndAtZero) {
  for (const std::size_t count : {0, 1, 15, 1000}) {
    const AlignedFloats floats(count);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(floats.data()) % (kMaxLanes * sizeof(float)), 0U);
    for (std::size_t i = 0; i < count; ++i) EXPECT_EQ(floats[i], 0.0F);
  }
}

TEST(KernelsAlignedFloats, PiecesAreAlignedAndMustFit) {
  AlignedFloats floats(3 * kMaxLanes);
  float *first = floats.take(1), *second = floats.take(kMaxLanes), *third = floats.take(kMaxLanes);
  EXPECT_EQ(second - first, static_cast<std::ptrdiff_t>(kMaxLanes));
  EXPECT_EQ(third - second, static_cast<std::ptrdiff_t>(kMaxLanes));
  EXPECT_THROW(floats.take(1), Error);
}

TEST(KernelsAlignedFloats, MemoryThatCannotBeHadIsAnError) {
  // More than any machine has, and more than a size can say.
  for (const std::size_t count : {std::size_t{1} << 58, std::numeric_limits<std::size_t>::max() / 2})
    EXPECT_THAT(message_of([&] { AlignedFloats floats(count, kUnset); }), StartsWith(kOutOfMemory));
  EXPECT_EQ(out_of_memory(3, 4).what(), std::string("out of memory: no room for 3 values of 4 bytes"));
}

// Every allocation of a kernel fails once. None may be a null pointer that is written to.
TEST(KernelsAlignedFloats, EveryFailureInsideAKernelIsAnError) {
  std::vector<float> a(4096, 0.5F), b(4096, 0.5F), c(4096), d(4096), e(4096), f(4096), g(4096), h(4096);
  std::vector<double> x(4096, -0.5), y(4096, 0.5), z(4096), w(4096);
  const CausalAttentionInput attention{2, 40, 1, 8, 1.0F, {a.data(), 8}, {b.data(), 8}, {b.data(), 8}};
  const LayerNormInput norm{3, 17, 1e-5F, a.data(), b.data(), nullptr, nullptr};
  const LongConvInput conv{{1, 40, 40, 5}, a.data(), b.data()};
  const CauchyInput poles{{1, 2, 3, 16}, {x.data(), y.data()}, {x.data(), y.data()}};
  const Rwkv5Input rwkv{{1, 5, 1, 7}, a.data(), a.data(), a.data(), b.data(), b.data()};
  const std::vector<std::function<void()>> kernels = {
      [&] { causal_attention(attention, c.data(), {d.data()}); },
      [&] {
        causal_attention_backward(attention, {d.data()}, a.data(), {c.data(), 8, e.data(), f.data(), 8});
      },
      [&] {
        linear({70, 16, 9}, a.data(), b.data(), nullptr, c.data());
      },
      [&] {
        linear_backward({70, 16, 9}, a.data(), b.data(), a.data(), {c.data(), d.data(), e.data()});
      },
      [&] {
        layer_norm_backward(norm, {a.data()}, b.data(), {c.data(), d.data(), e.data(), nullptr});
      },
      [&] { long_conv(conv, c.data()); },
      [&] {
        cauchy(poles, {z.data(), w.data()});
      },
      [&] { rwkv5(rwkv, c.data(), {}); },
  };
  for (std::size_t k = 0; k < kernels.size(); ++k) {
    std::size_t failures = 0;
    for (;; ++failures) {
      const FailingAllocations failing(failures);
      const std::string message = message_of(kernels[k]);
      if (message.empty()) break;
      EXPECT_THAT(message, StartsWith(kOutOfMemory));
      ASSERT_LT(failures, 1000U);
    }
    EXPECT_GE(failures, 1U) << "kernel " << k << " has no working memory to lose";
  }
}

}  // namespace
}  // namespace mneme::kernels
