// Loops over rows of any length, and sums across the lanes of many vectors at once, for kernels whose
// matrices have their rows along the lanes.
#if defined(MNEME_KERNELS_ROW_SUMS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef MNEME_KERNELS_ROW_SUMS_INL
#undef MNEME_KERNELS_ROW_SUMS_INL
#else
#define MNEME_KERNELS_ROW_SUMS_INL
#endif

#include <hwy/highway.h>

#include <cstddef>

HWY_BEFORE_NAMESPACE();
namespace mneme::kernels::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

inline std::size_t whole_vectors(std::size_t count, std::size_t lanes) { return (count + lanes - 1) / lanes * lanes; }

// Lane i of the result is the sum of row i of `rows` [N, lanes], N = lanes: pairs are added in a tree, which
// takes a third of the shuffles of N separate sums.
template <std::size_t N, class D>
HWY_INLINE hn::Vec<D> sum_tree(D d, const float* rows) {
  if constexpr (N == 1) {
    return hn::LoadU(d, rows);
  } else {
#if HWY_TARGET == HWY_SCALAR  // has one lane, so never comes here, and no shuffles to come here with
    return hn::Zero(d);
#else
    const auto low = sum_tree<N / 2>(d, rows), high = sum_tree<N / 2>(d, rows + N / 2 * hn::MaxLanes(d));
    return hn::Add(hn::ConcatEven(d, high, low), hn::ConcatOdd(d, high, low));
#endif
  }
}

// sums[i] = sum of partial[i, :] for `rows` rows. Both have room for a multiple of `lanes` rows; what stands
// in the rows beyond is irrelevant.
template <class D>
HWY_INLINE void row_sums(D d, const float* partial, std::size_t rows, float* sums) {
  constexpr std::size_t kLanes = hn::MaxLanes(D());
  for (std::size_t i = 0; i < rows; i += kLanes) hn::StoreU(sum_tree<kLanes>(d, partial + i * kLanes), d, sums + i);
}

// body(tag, i) for i = 0, lanes, ...: whole vectors, then single lanes through the same operations.
template <class Body>
HWY_INLINE void for_row(std::size_t count, const Body& body) {
  const hn::ScalableTag<float> wide;
  const hn::CappedTag<float, 1> one;
  std::size_t i = 0;
  for (; i + hn::Lanes(wide) <= count; i += hn::Lanes(wide)) body(wide, i);
  for (; i < count; ++i) body(one, i);
}

// a . b over `count` floats, any count.
template <class D>
HWY_INLINE float row_dot(D d, const float* a, const float* b, std::size_t count) {
  const std::size_t lanes = hn::Lanes(d);
  auto sum = hn::Zero(d);
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) sum = hn::MulAdd(hn::LoadU(d, a + i), hn::LoadU(d, b + i), sum);
  float total = hn::GetLane(hn::SumOfLanes(d, sum));
  for (; i < count; ++i) total += a[i] * b[i];
  return total;
}

// sums[i] += the sum over t of rows[t, i], for T rows of N floats that are `stride` apart.
inline void add_rows(const float* rows, std::size_t stride, std::size_t T, std::size_t N, float* sums) {
  for_row(N, [&](auto d, std::size_t i) {
    // Four sums at once: one alone would wait for itself.
    auto a = hn::Zero(d), b = a, c = a, e = a;
    std::size_t t = 0;
    for (const float* row = rows + i; t + 4 <= T; t += 4, row += 4 * stride) {
      a = hn::Add(a, hn::LoadU(d, row));
      b = hn::Add(b, hn::LoadU(d, row + stride));
      c = hn::Add(c, hn::LoadU(d, row + 2 * stride));
      e = hn::Add(e, hn::LoadU(d, row + 3 * stride));
    }
    for (; t < T; ++t) a = hn::Add(a, hn::LoadU(d, rows + t * stride + i));
    hn::StoreU(hn::Add(hn::LoadU(d, sums + i), hn::Add(hn::Add(a, b), hn::Add(c, e))), d, sums + i);
  });
}

}  // namespace
}  // namespace mneme::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
