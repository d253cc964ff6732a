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

#include <hwy/highway.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <utility>

#include "kernels/simd/aligned_floats.h"

HWY_BEFORE_NAMESPACE();
namespace mneme::kernels::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

using MatmulFloats = hn::ScalableTag<float>;
inline constexpr std::size_t kMatmulLanes = hn::MaxLanes(MatmulFloats());
inline constexpr std::size_t kPanelColumns = 2 * kMatmulLanes;
// Rows of a tile: two sums each, and three more registers, of the 32 or 16 that there are.
inline constexpr std::size_t kTileRows = HWY_TARGET <= HWY_AVX3 ? 14 : 6;
// Rows that meet a panel before the next one is taken: of 64 columns they fit into the first-level cache with it.
inline constexpr std::size_t kRowBlock = 126;
// Terms of a sum over tokens before it is added to what it belongs to.
inline constexpr std::size_t kTokenBlock = 256;

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

// Two vectors of every row of a matrix b: b(k, n) = rows[k * stride + n]. Sums begin with `begin`.
struct Panel {
  const float *begin, *rows;
  std::size_t stride;
};

// What sums begin with where there is no bias.
alignas(kMaxLanes * sizeof(float)) inline constexpr float kZeros[kPanelColumns] = {};

// Four rows of a square: four floats of column j are then together, in block j / 4 of vector j % 4.
HWY_INLINE void transpose_in_blocks(const float* rows, std::size_t stride, hn::Vec<MatmulFloats>* to) {
#if HWY_TARGET == HWY_SCALAR
  (void)stride;
  *to = hn::Load(MatmulFloats(), rows);
#else
  const MatmulFloats d;
  const hn::RepartitionToWide<hn::RebindToUnsigned<MatmulFloats> > pairs;
  const auto r0 = hn::LoadU(d, rows), r1 = hn::LoadU(d, rows + stride), r2 = hn::LoadU(d, rows + 2 * stride),
             r3 = hn::LoadU(d, rows + 3 * stride);
  const auto a = hn::BitCast(pairs, hn::InterleaveLower(d, r0, r1)),
             b = hn::BitCast(pairs, hn::InterleaveLower(d, r2, r3)),
             e = hn::BitCast(pairs, hn::InterleaveUpper(d, r0, r1)),
             f = hn::BitCast(pairs, hn::InterleaveUpper(d, r2, r3));
  to[0] = hn::BitCast(d, hn::InterleaveLower(pairs, a, b));
  to[1] = hn::BitCast(d, hn::InterleaveUpper(pairs, a, b));
  to[2] = hn::BitCast(d, hn::InterleaveLower(pairs, e, f));
  to[3] = hn::BitCast(d, hn::InterleaveUpper(pairs, e, f));
#endif
}

// to[j * stride + i] = from[i * from_stride + j] for i < kMatmulLanes and j < kMatmulLanes.
HWY_INLINE void transpose_square(const float* from, std::size_t from_stride, float* to, std::size_t stride) {
  const MatmulFloats d;
#if HWY_TARGET <= HWY_AVX3
  // Sixteen blocks of four floats change places in registers, which Highway has no words for.
  hn::Vec<MatmulFloats> rows[4][4];
  for (std::size_t i = 0; i < 4; ++i) transpose_in_blocks(from + 4 * i * from_stride, from_stride, rows[i]);
  for (std::size_t c = 0; c < 4; ++c) {
    const __m512 even_low = _mm512_shuffle_f32x4(rows[0][c].raw, rows[1][c].raw, 0x88),
                 odd_low = _mm512_shuffle_f32x4(rows[0][c].raw, rows[1][c].raw, 0xDD),
                 even_high = _mm512_shuffle_f32x4(rows[2][c].raw, rows[3][c].raw, 0x88),
                 odd_high = _mm512_shuffle_f32x4(rows[2][c].raw, rows[3][c].raw, 0xDD);
    float* column = to + c * stride;
    _mm512_storeu_ps(column, _mm512_shuffle_f32x4(even_low, even_high, 0x88));
    _mm512_storeu_ps(column + 4 * stride, _mm512_shuffle_f32x4(odd_low, odd_high, 0x88));
    _mm512_storeu_ps(column + 8 * stride, _mm512_shuffle_f32x4(even_low, even_high, 0xDD));
    _mm512_storeu_ps(column + 12 * stride, _mm512_shuffle_f32x4(odd_low, odd_high, 0xDD));
  }
#elif HWY_TARGET == HWY_SCALAR
  (void)from_stride, (void)stride, (void)d;
  *to = *from;
#elif HWY_TARGET == HWY_AVX2
  hn::Vec<MatmulFloats> above[4], below[4];
  transpose_in_blocks(from, from_stride, above);
  transpose_in_blocks(from + 4 * from_stride, from_stride, below);
  for (std::size_t c = 0; c < 4; ++c) {
    hn::StoreU(hn::ConcatLowerLower(d, below[c], above[c]), d, to + c * stride);
    hn::StoreU(hn::ConcatUpperUpper(d, below[c], above[c]), d, to + (c + 4) * stride);
  }
#else
  HWY_ALIGN float blocks[4 * kMatmulLanes];
  for (std::size_t i = 0; i < kMatmulLanes; i += 4) {
    hn::Vec<MatmulFloats> columns[4];
    transpose_in_blocks(from + i * from_stride, from_stride, columns);
    for (std::size_t c = 0; c < 4; ++c) hn::Store(columns[c], d, blocks + c * kMatmulLanes);
    for (std::size_t j = 0; j < kMatmulLanes; ++j)
      std::memcpy(to + j * stride + i, blocks + j % 4 * kMatmulLanes + j / 4 * 4, 4 * sizeof(float));
  }
#endif
}

// N columns, filled up to whole vectors.
inline constexpr std::size_t whole_vectors(std::size_t N) {
  return (N + kMatmulLanes - 1) / kMatmulLanes * kMatmulLanes;
}

// A distance for rows of so many floats at which they do not compete for the same lines of the first-level cache: an
// odd number of lines. Panels of a matrix with that stride may be read where they are.
inline constexpr std::size_t spread(std::size_t floats) {
  constexpr std::size_t kLine = 16;
  const std::size_t lines = (floats + kLine - 1) / kLine;
  return (lines + 1 - lines % 2) * kLine;
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
        memory_(size_, kUnset) {}

  // b(k, n) = b[k * stride + n]
  void pack(const float* b, std::size_t stride, const float* bias = nullptr) { pack_rows(b, stride, K, bias); }

  // The same for the first `rows` rows only.
  void pack_rows(const float* b, std::size_t stride, std::size_t rows, const float* bias = nullptr) {
    begin(bias);
    for (std::size_t n = 0; n < N; n += kPanelColumns) {
      const std::size_t count = std::min(kPanelColumns, N - n);
      float* to = row(n, 0);
      for (std::size_t k = 0; k < rows; ++k, to += kPanelColumns) {
        copy_floats<kPanelColumns>(b + k * stride + n, count, to);
        std::fill(to + count, to + kPanelColumns, 0.0F);
      }
    }
  }

  // b(k, n) = b[n * stride + k]
  void pack_transposed(const float* b, std::size_t stride, const float* bias = nullptr) {
    pack_transposed_columns(b, stride, N, bias);
  }

  // The same for the first `columns` columns only; the others of their last panel are zero.
  void pack_transposed_columns(const float* b, std::size_t stride, std::size_t columns, const float* bias = nullptr) {
    begin(bias);
    for (std::size_t n = 0; n < columns; n += kMatmulLanes) {
      const std::size_t count = std::min(kMatmulLanes, columns - n);
      float* to = row(n, 0) + n % kPanelColumns;
      std::size_t k = 0;
      if (count == kMatmulLanes)
        for (; k + kMatmulLanes <= K; k += kMatmulLanes)
          transpose_square(b + n * stride + k, stride, to + k * kPanelColumns, kPanelColumns);
      for (; k < K; ++k)
        for (std::size_t j = 0; j < kMatmulLanes; ++j)
          to[k * kPanelColumns + j] = j < count ? b[(n + j) * stride + k] : 0.0F;
    }
    // A last panel that is less than half full has a vector that no one has written.
    if (columns % kPanelColumns != 0 && columns % kPanelColumns <= kMatmulLanes)
      for (std::size_t k = 0; k < K; ++k) std::fill_n(row(columns, k) + kMatmulLanes, kMatmulLanes, 0.0F);
  }

  // Multiplies what was packed.
  void scale(float by) {
    const MatmulFloats d;
    for (std::size_t i = 0; i < size_; i += kMatmulLanes) {
      float* at = memory_ + i;
      hn::Store(hn::Mul(hn::Load(d, at), hn::Set(d, by)), d, at);
    }
  }

  // Multiplies each of the first `rows` rows k by by[k].
  void scale_rows(const float* by, std::size_t rows) {
    const MatmulFloats d;
    for (std::size_t n = 0; n < N; n += kPanelColumns)
      for (std::size_t k = 0; k < rows; ++k)
        for (std::size_t j = 0; j < kPanelColumns; j += kMatmulLanes) {
          float* at = row(n, k) + j;
          hn::Store(hn::Mul(hn::Load(d, at), hn::Set(d, by[k])), d, at);
        }
  }

  // Becomes another of the same size, its row k times by[k].
  void scale_rows_of(const Panels& from, const float* by) {
    const MatmulFloats d;
    for (std::size_t n = 0; n < N; n += kPanelColumns) {
      std::fill_n(beginning(n), kPanelColumns, 0.0F);
      for (std::size_t k = 0; k < K; ++k)
        for (std::size_t j = 0; j < kPanelColumns; j += kMatmulLanes)
          hn::Store(hn::Mul(hn::Load(d, from.row(n, k) + j), hn::Set(d, by[k])), d, row(n, k) + j);
    }
  }

  void clear() { std::fill_n(memory_.data(), size_, 0.0F); }

  // to[k * stride + n] = b(k, n)
  void unpack(float* to, std::size_t stride) const {
    for (std::size_t n = 0; n < N; n += kPanelColumns)
      for (std::size_t k = 0; k < K; ++k)
        copy_floats<kPanelColumns>(row(n, k), std::min(kPanelColumns, N - n), to + k * stride + n);
  }

  // The panel of column n, and its row k.
  Panel panel(std::size_t n) const { return {beginning(n), row(n, 0), kPanelColumns}; }
  float* row(std::size_t n, std::size_t k) const { return beginning(n) + (k + 1) * kPanelColumns; }

  const std::size_t K, N;

 private:
  void begin(const float* bias) {
    for (std::size_t n = 0; n < N; n += kPanelColumns)
      for (std::size_t j = 0; j < kPanelColumns; ++j) beginning(n)[j] = bias && n + j < N ? bias[n + j] : 0.0F;
  }

  float* beginning(std::size_t n) const { return memory_ + n / kPanelColumns * stride_; }

  std::size_t stride_, size_;
  AlignedFloats memory_;
};

// c [R, V vectors] = (or +=) a [R, K] times the first V vectors of the panel's rows.
template <std::size_t R, std::size_t V>
void multiply_tile(const Left& a, const Panel& panel, std::size_t K, float* c, std::size_t stride, bool add) {
  const MatmulFloats d;
  hn::Vec<MatmulFloats> sum[R][V];
  HWY_UNROLL(16)
  for (std::size_t r = 0; r < R; ++r)
    for (std::size_t v = 0; v < V; ++v) sum[r][v] = hn::Load(d, panel.begin + v * kMatmulLanes);
  const float *left = a.data, *right = panel.rows;
  for (std::size_t k = 0; k < K; ++k, left += a.column, right += panel.stride) {
    hn::Vec<MatmulFloats> b[V];
    for (std::size_t v = 0; v < V; ++v) b[v] = hn::LoadU(d, right + v * kMatmulLanes);
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
using Tile = void (*)(const Left&, const Panel&, std::size_t, float*, std::size_t, bool);
template <std::size_t V, std::size_t... R>
constexpr std::array<Tile, sizeof...(R)> tiles_of(std::index_sequence<R...>) {
  return {multiply_tile<R + 1, V>...};
}
inline constexpr auto kNarrowTiles = tiles_of<1>(std::make_index_sequence<kTileRows>());
inline constexpr auto kTiles = tiles_of<2>(std::make_index_sequence<kTileRows>());

// c [M, columns] = (or +=) a [M, K] times a panel with `columns` valid columns.
inline void multiply_panel(Left a, std::size_t M, const Panel& panel, std::size_t K, float* c, std::size_t stride,
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

// c [M, width] = a [M, K] b [K, N], or added to c; rows of c are `stride` floats apart. Columns from N on are zero.
inline void multiply(Left a, std::size_t M, const Panels& b, std::size_t width, float* c, std::size_t stride,
                     bool add = false) {
  for (std::size_t m = 0, rows = 0; m < M; m += rows) {
    rows = M - m < kRowBlock + kTileRows ? M - m : kRowBlock;
    for (std::size_t n = 0; n < width; n += kPanelColumns)
      multiply_panel({a.data + m * a.row, a.row, a.column}, rows, b.panel(n), b.K, c + m * stride + n, stride, add,
                     width - n);
  }
}

// c [M, N] = a [M, K] b [K, N], or added to c; rows of c are `stride` floats apart.
inline void multiply(Left a, std::size_t M, const Panels& b, float* c, std::size_t stride, bool add = false) {
  multiply(a, M, b, b.N, c, stride, add);
}

// The first K rows and N columns of b instead of all.
struct Section {
  const Panels& b;
  std::size_t K, N;
};

inline void multiply(Left a, std::size_t M, const Section& section, float* c, std::size_t stride, bool add = false) {
  for (std::size_t n = 0; n < section.N; n += kPanelColumns)
    multiply_panel(a, M, section.b.panel(n), section.K, c + n, stride, add, section.N - n);
}

}  // namespace
}  // namespace mneme::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
