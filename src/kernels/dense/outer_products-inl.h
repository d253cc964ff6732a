// Products whose left matrix is transposed: sums over tokens, as gradients of weights are. Included once per SIMD
// target.
#if defined(MNEME_KERNELS_OUTER_PRODUCTS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef MNEME_KERNELS_OUTER_PRODUCTS_INL
#undef MNEME_KERNELS_OUTER_PRODUCTS_INL
#else
#define MNEME_KERNELS_OUTER_PRODUCTS_INL
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "kernels/dense/matmul-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mneme::kernels::HWY_NAMESPACE {
namespace {

// Columns of a matrix of up to `tokens` rows, kTileRows at a time: what a tile reads for a token is contiguous. They
// are too far apart to be read where they are.
class ColumnTiles {
 public:
  ColumnTiles(std::size_t tokens, std::size_t columns)
      : columns_(columns), memory_(tokens * columns + kCopied, kUnset) {}

  void pack(const float* a, std::size_t stride, std::size_t tokens) {
    const MatmulFloats d;
    tokens_ = tokens;
    std::size_t m = 0;
    // Whole vectors: what is too much of one token is overwritten by the next, or by the next tile.
    for (; m + kCopied <= columns_; m += kTileRows)
      for (std::size_t t = 0; t < tokens; ++t)
        for (std::size_t j = 0; j < kCopied; j += kMatmulLanes)
          hn::StoreU(hn::LoadU(d, a + t * stride + m + j), d, tile(m) + t * kTileRows + j);
    for (; m < columns_; m += kTileRows)
      for (std::size_t t = 0; t < tokens; ++t)
        std::memcpy(tile(m) + t * rows(m), a + t * stride + m, rows(m) * sizeof(float));
  }

  // c [columns, width] = (or +=) the transposed matrix times a panel with `width` valid columns.
  void multiply(const Panel& panel, float* c, std::size_t stride, std::size_t width, bool add = false) const {
    for (std::size_t m = 0; m < columns_; m += kTileRows)
      multiply_panel({tile(m), 1, rows(m)}, rows(m), panel, tokens_, c + m * stride, stride, add, width);
  }

 private:
  static constexpr std::size_t kCopied = whole_vectors(kTileRows);

  std::size_t rows(std::size_t m) const { return std::min(kTileRows, columns_ - m); }
  float* tile(std::size_t m) const { return memory_ + m * tokens_; }

  std::size_t columns_, tokens_ = 0;
  AlignedFloats memory_;
};

// to[j * to_stride + i] (+)= from[i * stride + j] for i < M and j < N.
inline void transpose(const float* from, std::size_t stride, std::size_t M, std::size_t N, float* to,
                      std::size_t to_stride, bool add) {
  const MatmulFloats d;
  HWY_ALIGN float square[kMatmulLanes * kMatmulLanes];
  for (std::size_t i = 0; i < M; i += kMatmulLanes)
    for (std::size_t j = 0; j < N; j += kMatmulLanes) {
      const float* at = from + i * stride + j;
      float* out = to + j * to_stride + i;
      if (i + kMatmulLanes <= M && j + kMatmulLanes <= N) {
        transpose_square(at, stride, square, kMatmulLanes);
        for (std::size_t r = 0; r < kMatmulLanes; ++r) {
          const auto row = hn::Load(d, square + r * kMatmulLanes);
          hn::StoreU(add ? hn::Add(row, hn::LoadU(d, out + r * to_stride)) : row, d, out + r * to_stride);
        }
      } else {
        for (std::size_t r = 0; r < std::min(kMatmulLanes, N - j); ++r)
          for (std::size_t s = 0; s < std::min(kMatmulLanes, M - i); ++s)
            out[r * to_stride + s] = at[s * stride + r] + (add ? out[r * to_stride + s] : 0.0F);
      }
    }
}

// Sums of outer products over tokens: c [M, N] += the sum over t of a[t, m] b[t, n], in any number of parts.
// Of two matrices the narrow one is brought into tiles, and the wide one, a panel at a time, is read by all of them. If
// the narrow one is b, that is the transposed sum, which is kept until finish().
class OuterProducts {
 public:
  // For about `tokens` tokens.
  OuterProducts(std::size_t tokens, std::size_t M, std::size_t N, float* c, std::size_t stride)
      : M_(M),
        N_(N),
        c_(c),
        stride_(stride),
        transposed_(M > N && tokens >= kWorthTransposing),
        block_(std::min(tokens, kTokenBlock)),
        tiles_(block_, transposed_ ? N : M),
        panel_(block_ * kPanelColumns, kUnset),
        sum_(transposed_ ? M * N : 0) {}

  void add(const float* a, std::size_t stride_a, const float* b, std::size_t stride_b, std::size_t T) {
    for (std::size_t t = 0; t < T; t += block_, a += block_ * stride_a, b += block_ * stride_b) {
      const std::size_t tokens = std::min(block_, T - t);
      if (transposed_)
        add_block(b, stride_b, a, stride_a, M_, tokens, sum_, M_);
      else
        add_block(a, stride_a, b, stride_b, N_, tokens, c_, stride_);
    }
  }

  void finish() {
    if (transposed_) transpose(sum_, M_, N_, M_, c_, stride_, true);
  }

 private:
  // Fewer tokens are less work than the transposition.
  static constexpr std::size_t kWorthTransposing = 64;

  void add_block(const float* narrow, std::size_t narrow_stride, const float* wide, std::size_t wide_stride,
                 std::size_t width, std::size_t tokens, float* to, std::size_t to_stride) {
    tiles_.pack(narrow, narrow_stride, tokens);
    for (std::size_t n = 0; n < width; n += kPanelColumns)
      tiles_.multiply(panel(wide + n, wide_stride, std::min(kPanelColumns, width - n), tokens), to + n, to_stride,
                      width - n, true);
  }

  // As it stands if that does not cost more, else a copy.
  Panel panel(const float* from, std::size_t stride, std::size_t columns, std::size_t tokens) const {
    if (columns == kPanelColumns && stride == spread(stride)) return {kZeros, from, stride};
    for (std::size_t t = 0; t < tokens; ++t) {
      float* row = panel_ + t * kPanelColumns;
      copy_floats<kPanelColumns>(from + t * stride, columns, row);
      std::fill(row + columns, row + kPanelColumns, 0.0F);
    }
    return {kZeros, panel_, kPanelColumns};
  }

  std::size_t M_, N_;
  float* c_;
  std::size_t stride_;
  bool transposed_;
  std::size_t block_;
  ColumnTiles tiles_;
  AlignedFloats panel_, sum_;
};

}  // namespace
}  // namespace mneme::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
