#include "kernels/dense/embedding.h"

namespace mneme::kernels {
namespace {

// Calls visit(place of a token, its number, its place in the sequence).
template <class Visit>
void for_each_token(const TokenRows& tokens, Visit visit) {
  for (std::size_t t = 0; t < tokens.B * tokens.L; ++t)
    visit(t, static_cast<std::size_t>(tokens.index[t]), t % tokens.L);
}

}  // namespace

void embed_tokens_reference(const TokenRows& tokens, const float* table, const float* places, float* out) {
  const std::size_t D = tokens.D;
  for_each_token(tokens, [&](std::size_t t, std::size_t number, std::size_t place) {
    for (std::size_t i = 0; i < D; ++i) out[t * D + i] = table[number * D + i] + (places ? places[place * D + i] : 0);
  });
}

void embed_tokens_backward_reference(const TokenRows& tokens, const float* dout, float* dtable, float* dplaces) {
  const std::size_t D = tokens.D;
  for_each_token(tokens, [&](std::size_t t, std::size_t number, std::size_t place) {
    for (std::size_t i = 0; i < D; ++i) {
      dtable[number * D + i] += dout[t * D + i];
      if (dplaces) dplaces[place * D + i] += dout[t * D + i];
    }
  });
}

}  // namespace mneme::kernels
