#include <vector>

#include "kernels/conv/token_blend.h"

namespace mneme::kernels {

void token_blend_reference(const TokenBlendInput& in, const PerBlend<float*>& out) {
  for (std::size_t m = 0; m < in.M; ++m)
    for (std::size_t b = 0; b < in.B; ++b)
      for (std::size_t t = 0; t < in.L; ++t)
        for (std::size_t c = 0; c < in.C; ++c) {
          const std::size_t at = (b * in.L + t) * in.C + c;
          const float previous = t > 0 ? in.x[at - in.C] : 0.0F;
          out[m][at] = in.x[at] + in.share[m][c] * (previous - in.x[at]);
        }
}

void token_blend_backward_reference(const TokenBlendInput& in, const PerBlend<const float*>& dout,
                                    const TokenBlendGradients& to) {
  for (std::size_t i = 0; i < in.B * in.L * in.C; ++i) to.dx[i] = 0.0F;
  for (std::size_t m = 0; m < in.M; ++m) {
    std::vector<double> dshare(in.C, 0.0);
    for (std::size_t b = 0; b < in.B; ++b)
      for (std::size_t t = 0; t < in.L; ++t)
        for (std::size_t c = 0; c < in.C; ++c) {
          const std::size_t at = (b * in.L + t) * in.C + c;
          const float dy = dout[m][at], previous = t > 0 ? in.x[at - in.C] : 0.0F;
          to.dx[at] += dy * (1.0F - in.share[m][c]);
          if (t > 0) to.dx[at - in.C] += dy * in.share[m][c];
          dshare[c] += static_cast<double>(dy) * (previous - in.x[at]);
        }
    for (std::size_t c = 0; c < in.C; ++c) to.dshare[m][c] = static_cast<float>(dshare[c]);
  }
}

}  // namespace mneme::kernels
