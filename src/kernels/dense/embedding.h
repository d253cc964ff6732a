// embed_tokens: rows of a table by number, plus rows of another by place.
//
// out[b, l, :] = table[index[b, l], :] + places[l, :];  backward adds the sums of dout to dtable and dplaces, tokens in
// their order, so that repeated numbers add up in a fixed one. index [B, L], valid; tables have D columns, places L
// rows; places and dplaces may be null. float32, contiguous, no overlap.
#pragma once

#include <cstddef>
#include <cstdint>

namespace mneme::kernels {

struct TokenRows {
  std::size_t B, L, D;
  const std::int32_t* index;
};

void embed_tokens(const TokenRows& tokens, const float* table, const float* places, float* out);
void embed_tokens_reference(const TokenRows& tokens, const float* table, const float* places, float* out);

void embed_tokens_backward(const TokenRows& tokens, const float* dout, float* dtable, float* dplaces);
void embed_tokens_backward_reference(const TokenRows& tokens, const float* dout, float* dtable, float* dplaces);

}  // namespace mneme::kernels
