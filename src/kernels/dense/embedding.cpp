#include "kernels/dense/embedding.h"

#include <cstring>

#include "kernels/simd/dispatch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/dense/embedding.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/simd/row_sums-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mneme::kernels::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// to = a + b
HWY_INLINE void sum_rows(const float* a, const float* b, std::size_t D, float* to) {
  for_row(D, [&](auto d, std::size_t i) { hn::StoreU(hn::Add(hn::LoadU(d, a + i), hn::LoadU(d, b + i)), d, to + i); });
}

void embed_tokens_simd(const TokenRows& tokens, const float* table, const float* places, float* out) {
  const std::size_t D = tokens.D;
  for (std::size_t b = 0, t = 0; b < tokens.B; ++b)
    for (std::size_t l = 0; l < tokens.L; ++l, ++t) {
      const float* row = table + static_cast<std::size_t>(tokens.index[t]) * D;
      if (places)
        sum_rows(row, places + l * D, D, out + t * D);
      else
        std::memcpy(out + t * D, row, D * sizeof(float));
    }
}

void embed_tokens_backward_simd(const TokenRows& tokens, const float* dout, float* dtable, float* dplaces) {
  const std::size_t D = tokens.D;
  for (std::size_t b = 0, t = 0; b < tokens.B; ++b)
    for (std::size_t l = 0; l < tokens.L; ++l, ++t) {
      float* row = dtable + static_cast<std::size_t>(tokens.index[t]) * D;
      sum_rows(row, dout + t * D, D, row);
      if (dplaces) sum_rows(dplaces + l * D, dout + t * D, D, dplaces + l * D);
    }
}

}  // namespace
}  // namespace mneme::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mneme::kernels {

HWY_EXPORT(embed_tokens_simd);
HWY_EXPORT(embed_tokens_backward_simd);

void embed_tokens(const TokenRows& tokens, const float* table, const float* places, float* out) {
  if (use_reference()) return embed_tokens_reference(tokens, table, places, out);
  HWY_DYNAMIC_DISPATCH(embed_tokens_simd)(tokens, table, places, out);
}

void embed_tokens_backward(const TokenRows& tokens, const float* dout, float* dtable, float* dplaces) {
  if (use_reference()) return embed_tokens_backward_reference(tokens, dout, dtable, dplaces);
  HWY_DYNAMIC_DISPATCH(embed_tokens_backward_simd)(tokens, dout, dtable, dplaces);
}

}  // namespace mneme::kernels
#endif
