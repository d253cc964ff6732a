#include <cmath>
#include <vector>

#include "kernels/attention/attention_layer.h"
#include "kernels/attention/causal_attention.h"
#include "kernels/dense/linear.h"

namespace mneme::kernels {
namespace {

// Rows of x that have a query.
std::vector<float> query_inputs(const AttentionLayerInput& in) {
  std::vector<float> rows;
  for (std::size_t r = 0; r < in.rows(); ++r) {
    const float* row = in.x + (in.positions ? static_cast<std::size_t>(in.positions[r]) : r) * in.D;
    rows.insert(rows.end(), row, row + in.D);
  }
  return rows;
}

CausalAttentionInput attention_of(const AttentionLayerInput& in, const AttentionLayerSaved& saved) {
  const std::size_t d = in.D / in.H;
  return {.B = in.B,
          .L = in.L,
          .H = in.H,
          .d = d,
          .scale = static_cast<float>(1.0 / std::sqrt(static_cast<double>(d))),
          .q = {saved.q, in.D},
          .k = {saved.kv, 2 * in.D},
          .v = {saved.kv + in.D, 2 * in.D},
          .positions = in.positions,
          .R = in.R};
}

}  // namespace

void attention_layer_reference(const AttentionLayerInput& in, float* out, const AttentionLayerSaved& saved) {
  const std::size_t D = in.D, T = in.B * in.L, R = in.rows();
  linear_reference({R, D, D}, query_inputs(in).data(), in.weight_in, in.bias_in, saved.q);
  linear_reference({T, D, 2 * D}, in.x, in.weight_in + D * D, in.bias_in ? in.bias_in + D : nullptr, saved.kv);
  causal_attention_reference(attention_of(in, saved), saved.context, {saved.lse});
  linear_reference({R, D, D}, saved.context, in.weight_out, in.bias_out, out);
}

void attention_layer_backward_reference(const AttentionLayerInput& in, const AttentionLayerSaved& saved,
                                        const float* dout, const AttentionLayerGradients& to) {
  const std::size_t D = in.D, T = in.B * in.L, R = in.rows();
  std::vector<float> dcontext(R * D), dq(R * D), dkv(T * 2 * D), dqueries(R * D);
  linear_backward_reference({R, D, D}, saved.context, in.weight_out, dout,
                            {dcontext.data(), to.dweight_out, to.dbias_out});
  causal_attention_backward_reference(attention_of(in, saved), {saved.lse}, dcontext.data(),
                                      {dq.data(), D, dkv.data(), dkv.data() + D, 2 * D});
  linear_backward_reference({R, D, D}, query_inputs(in).data(), in.weight_in, dq.data(),
                            {dqueries.data(), to.dweight_in, to.dbias_in});
  linear_backward_reference({T, D, 2 * D}, in.x, in.weight_in + D * D, dkv.data(),
                            {to.dx, to.dweight_in + D * D, to.dbias_in ? to.dbias_in + D : nullptr});
  for (std::size_t r = 0; r < R; ++r)
    for (std::size_t i = 0; i < D; ++i)
      to.dx[(in.positions ? static_cast<std::size_t>(in.positions[r]) : r) * D + i] += dqueries[r * D + i];
}

}  // namespace mneme::kernels
