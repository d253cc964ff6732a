// Products of matrices as linear layers make them: one of thousands of rows, the other small enough to be packed into
// panels, two vectors wide, that stay in the first-level cache. The tall one is read where it is, without packing.
// Included once per SIMD target.
//
// Every element is a sum in the order of k, so a row of a product depends on that row alone, and not on its place.
#if defined(MNEME_KERNELS_MATMUL_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef MNEME_KERNELS_MATMUL_INL
#undef MNEME_KERNELS_MATMUL_INL
#else
#define MNEME_KERNELS_MATMUL_INL
#endif

#include <hwy/aligned_allocator.h>
#include <hwy/highway.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <utility>

HWY_BEFORE_NAMESPACE();
namespace mneme::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using MatmulFloats = hn::ScalableTag<float>;
inline constexpr std::size_t kMatmulLanes = hn::MaxLanes(MatmulFloats());
inline constexpr std::size_t kPanelColumns = 2 * kMatmulLanes;
// Rows of a tile: two sums each, and three registers beside them, of the 32 or 16 that there are.
inline constexpr std::size_t kTileRows = HWY_TARGET <= HWY_AVX3 ? 14 : 6;
// Rows that meet a panel before the next one is taken: of 64 columns they fit into the first-level cache with it.
inline constexpr std::size_t kRowBlock = 126;
// Terms of a sum over tokens before it is added to what it belongs to.
inline constexpr std::size_t kTokenBlock = 252;

inline hwy::AlignedFreeUniquePtr<float[]> aligned_floats(std::size_t count) {
  return hwy::AllocateAligned<float>(std::max<std::size_t>(count, 1));
}

// A copy of mostly `whole` floats, which the compiler then knows.
template <std::size_t whole>
HWY_INLINE void copy_floats(const float* from, std::size_t count, float* to) {
  if (count == whole)
    std::memcpy(to, from, whole * sizeof(float));
  else
    std::memcpy(to, from, count * sizeof(float));
}

// a(m, k) = data[m * row + k * column]
struct Left {
  const float* data;
  std::size_t row, column;
};

// to[j * stride + i] = from[i * from_stride + j] for i < kMatmulLanes and j < kMatmulLanes.
HWY_INLINE void transpose_square(const float* from, std::size_t from_stride, float* to, std::size_t stride) {
#if HWY_TARGET == HWY_SCALAR
  (void)from_stride, (void)stride;
  *to = *from;
#else
  const MatmulFloats d;
  const hn::RebindToUnsigned<MatmulFloats> whole;
  const hn::RepartitionToWide<decltype(whole)> pairs;
  HWY_ALIGN float blocks[4 * kMatmulLanes];
  for (std::size_t i = 0; i < kMatmulLanes; i += 4) {
    const float* rows = from + i * from_stride;
    const auto r0 = hn::LoadU(d, rows), r1 = hn::LoadU(d, rows + from_stride),
               r2 = hn::LoadU(d, rows + 2 * from_stride), r3 = hn::LoadU(d, rows + 3 * from_stride);
    const auto a = hn::BitCast(pairs, hn::InterleaveLower(d, r0, r1)),
               b = hn::BitCast(pairs, hn::InterleaveLower(d, r2, r3)),
               e = hn::BitCast(pairs, hn::InterleaveUpper(d, r0, r1)),
               f = hn::BitCast(pairs, hn::InterleaveUpper(d, r2, r3));
    // Four floats of column j now stand together, in block j / 4 of one of these.
    hn::Store(hn::BitCast(d, hn::InterleaveLower(pairs, a, b)), d, blocks);
    hn::Store(hn::BitCast(d, hn::InterleaveUpper(pairs, a, b)), d, blocks + kMatmulLanes);
    hn::Store(hn::BitCast(d, hn::InterleaveLower(pairs, e, f)), d, blocks + 2 * kMatmulLanes);
    hn::Store(hn::BitCast(d, hn::InterleaveUpper(pairs, e, f)), d, blocks + 3 * kMatmulLanes);
    for (std::size_t j = 0; j < kMatmulLanes; ++j)
      std::memcpy(to + j * stride + i, blocks + j % 4 * kMatmulLanes + j / 4 * 4, 4 * sizeof(float));
  }
#endif
}

// N columns, filled up to whole vectors.
inline constexpr std::size_t whole_vectors(std::size_t N) {
  return (N + kMatmulLanes - 1) / kMatmulLanes * kMatmulLanes;
}

// A matrix b [K, N] in panels of kPanelColumns, the last one filled up with zeros. A panel begins with the row that its
// sums begin with: zeros, or a bias.
class Panels {
 public:
  Panels(std::size_t rows, std::size_t columns)
      : K(rows),
        N(columns),
        stride_((K + 1) * kPanelColumns),
        size_((N + kPanelColumns - 1) / kPanelColumns * stride_),
        memory_(aligned_floats(size_)) {}

  // b(k, n) = b[k * stride + n]
  void pack(const float* b, std::size_t stride, const float* bias = nullptr) { pack_rows(b, stride, K, bias); }

  // The same for the first `rows` rows only.
  void pack_rows(const float* b, std::size_t stride, std::size_t rows, const float* bias = nullptr) {
    begin(bias);
    for (std::size_t n = 0; n < N; n += kPanelColumns) {
      const std::size_t count = std::min(kPanelColumns, N - n);
      float* to = panel(n) + kPanelColumns;
      for (std::size_t k = 0; k < rows; ++k, to += kPanelColumns) {
        copy_floats<kPanelColumns>(b + k * stride + n, count, to);
        std::fill(to + count, to + kPanelColumns, 0.0F);
      }
    }
  }

  // b(k, n) = b[n * stride + k]
  void pack_transposed(const float* b, std::size_t stride, const float* bias = nullptr) {
    begin(bias);
    for (std::size_t n = 0; n < N; n += kMatmulLanes) {
      const std::size_t count = std::min(kMatmulLanes, N - n);
      float* to = panel(n) + kPanelColumns + n % kPanelColumns;
      std::size_t k = 0;
      if (count == kMatmulLanes)
        for (; k + kMatmulLanes <= K; k += kMatmulLanes)
          transpose_square(b + n * stride + k, stride, to + k * kPanelColumns, kPanelColumns);
      for (; k < K; ++k)
        for (std::size_t j = 0; j < kMatmulLanes; ++j)
          to[k * kPanelColumns + j] = j < count ? b[(n + j) * stride + k] : 0.0F;
    }
    // A last panel that is less than half full has a vector that no one has written.
    if (N % kPanelColumns != 0 && N % kPanelColumns <= kMatmulLanes)
      for (std::size_t k = 1; k <= K; ++k) std::fill_n(panel(N) + k * kPanelColumns + kMatmulLanes, kMatmulLanes, 0.0F);
  }

  // Multiplies what was packed.
  void scale(float by) {
    const MatmulFloats d;
    for (std::size_t i = 0; i < size_; i += kMatmulLanes) {
      float* at = memory_.get() + i;
      hn::Store(hn::Mul(hn::Load(d, at), hn::Set(d, by)), d, at);
    }
  }

  // Multiplies row k by by[k].
  void scale_rows(const float* by) {
    const MatmulFloats d;
    for (std::size_t n = 0; n < N; n += kPanelColumns)
      for (std::size_t k = 0; k < K; ++k)
        for (std::size_t j = 0; j < kPanelColumns; j += kMatmulLanes) {
          float* at = row(n, k) + j;
          hn::Store(hn::Mul(hn::Load(d, at), hn::Set(d, by[k])), d, at);
        }
  }

  void clear() { std::fill_n(memory_.get(), size_, 0.0F); }

  // to[k * stride + n] = b(k, n)
  void unpack(float* to, std::size_t stride) const {
    for (std::size_t n = 0; n < N; n += kPanelColumns)
      for (std::size_t k = 0; k < K; ++k)
        copy_floats<kPanelColumns>(row(n, k), std::min(kPanelColumns, N - n), to + k * stride + n);
  }

  // Row k of the panel of column n.
  float* row(std::size_t n, std::size_t k) const { return panel(n) + (k + 1) * kPanelColumns; }

  // The panel of column n.
  float* panel(std::size_t n) const { return memory_.get() + n / kPanelColumns * stride_; }

  const std::size_t K, N;

 private:
  void begin(const float* bias) {
    for (std::size_t n = 0; n < N; n += kPanelColumns)
      for (std::size_t j = 0; j < kPanelColumns; ++j) panel(n)[j] = bias && n + j < N ? bias[n + j] : 0.0F;
  }

  std::size_t stride_, size_;
  hwy::AlignedFreeUniquePtr<float[]> memory_;
};

// c [R, V vectors] = (or +=) a [R, K] times the first V vectors of the panel's rows.
template <std::size_t R, std::size_t V>
void multiply_tile(const Left& a, const float* panel, std::size_t K, float* c, std::size_t stride, bool add) {
  const MatmulFloats d;
  hn::Vec<MatmulFloats> sum[R][V];
  HWY_UNROLL(16)
  for (std::size_t r = 0; r < R; ++r)
    for (std::size_t v = 0; v < V; ++v) sum[r][v] = hn::Load(d, panel + v * kMatmulLanes);
  const float* left = a.data;
  for (std::size_t k = 0; k < K; ++k, left += a.column) {
    panel += kPanelColumns;
    hn::Vec<MatmulFloats> b[V];
    for (std::size_t v = 0; v < V; ++v) b[v] = hn::Load(d, panel + v * kMatmulLanes);
    HWY_UNROLL(16)
    for (std::size_t r = 0; r < R; ++r) {
      const auto x = hn::Set(d, left[r * a.row]);
      for (std::size_t v = 0; v < V; ++v) sum[r][v] = hn::MulAdd(x, b[v], sum[r][v]);
    }
  }
  HWY_UNROLL(16)
  for (std::size_t r = 0; r < R; ++r, c += stride)
    for (std::size_t v = 0; v < V; ++v) {
      float* to = c + v * kMatmulLanes;
      hn::StoreU(add ? hn::Add(sum[r][v], hn::LoadU(d, to)) : sum[r][v], d, to);
    }
}

// By their numbers of rows.
using Tile = void (*)(const Left&, const float*, std::size_t, float*, std::size_t, bool);
template <std::size_t V, std::size_t... R>
constexpr std::array<Tile, sizeof...(R)> tiles_of(std::index_sequence<R...>) {
  return {multiply_tile<R + 1, V>...};
}
inline constexpr auto kNarrowTiles = tiles_of<1>(std::make_index_sequence<kTileRows>());
inline constexpr auto kTiles = tiles_of<2>(std::make_index_sequence<kTileRows>());

// c [M, columns] = (or +=) a [M, K] times a panel of which `columns` exist.
inline void multiply_panel(Left a, std::size_t M, const float* panel, std::size_t K, float* c, std::size_t stride,
                           bool add, std::size_t columns) {
  const auto& tiles = columns <= kMatmulLanes ? kNarrowTiles : kTiles;
  const std::size_t width = columns <= kMatmulLanes ? kMatmulLanes : kPanelColumns;
  HWY_ALIGN float whole[kTileRows * kPanelColumns];
  while (M > 0) {
    // No tile of a few rows at the end: it would wait for its own sums.
    const std::size_t R = M >= 2 * kTileRows ? kTileRows : M > kTileRows ? M / 2 : M;
    if (columns >= width) {
      tiles[R - 1](a, panel, K, c, stride, add);
    } else {
      tiles[R - 1](a, panel, K, whole, width, false);
      for (std::size_t r = 0; r < R; ++r)
        for (std::size_t j = 0; j < columns; ++j)
          c[r * stride + j] = whole[r * width + j] + (add ? c[r * stride + j] : 0.0F);
    }
    M -= R;
    a.data += R * a.row;
    c += R * stride;
  }
}

// c [M, N] = a [M, K] b [K, N], or added to c; rows of c are `stride` floats apart.
inline void multiply(Left a, std::size_t M, const Panels& b, float* c, std::size_t stride, bool add = false) {
  for (std::size_t m = 0; m < M; m += kRowBlock)
    for (std::size_t n = 0; n < b.N; n += kPanelColumns)
      multiply_panel({a.data + m * a.row, a.row, a.column}, std::min(kRowBlock, M - m), b.panel(n), b.K,
                     c + m * stride + n, stride, add, b.N - n);
}

// c [M, N] += the sum over tokens t < b.K of a[t, m] b(t, n); rows of a are `stride_a` floats apart.
inline void add_outer_products(const float* a, std::size_t stride_a, std::size_t M, const Panels& b, float* c,
                               std::size_t stride) {
  const auto tile = aligned_floats(kTileRows * b.K);
  for (std::size_t m = 0; m < M; m += kTileRows) {
    // Columns of a, brought together: they are too far apart to be read where they are.
    const std::size_t rows = std::min(kTileRows, M - m);
    for (std::size_t t = 0; t < b.K; ++t) copy_floats<kTileRows>(a + t * stride_a + m, rows, tile.get() + t * rows);
    for (std::size_t n = 0; n < b.N; n += kPanelColumns)
      multiply_panel({tile.get(), 1, rows}, rows, b.panel(n), b.K, c + m * stride + n, stride, true, b.N - n);
  }
}

// The same for b [T, N] with rows `stride_b` floats apart, which is packed a block of tokens at a time.
inline void add_outer_products(const float* a, std::size_t stride_a, std::size_t M, const float* b,
                               std::size_t stride_b, std::size_t N, std::size_t T, float* c, std::size_t stride) {
  for (std::size_t t = 0; t < T; t += kTokenBlock) {
    Panels panels(std::min(kTokenBlock, T - t), N);
    panels.pack(b + t * stride_b, stride_b);
    add_outer_products(a + t * stride_a, stride_a, M, panels, c, stride);
  }
}

}  // namespace mneme::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
