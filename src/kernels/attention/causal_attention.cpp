#include "kernels/attention/causal_attention.h"

#include "kernels/simd/dispatch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/attention/causal_attention.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/attention/causal_attention-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mneme::kernels::HWY_NAMESPACE {
namespace {

void attention_forward_simd(const CausalAttentionInput& in, float* out, const CausalAttentionSaved& saved) {
  attention_forward(in, out, saved);
}

void attention_backward_simd(const CausalAttentionInput& in, const CausalAttentionSaved& saved, const float* dout,
                             const CausalAttentionGradients& gradients) {
  attention_backward(in, saved, dout, gradients);
}

}  // namespace
}  // namespace mneme::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mneme::kernels {

HWY_EXPORT(attention_forward_simd);
HWY_EXPORT(attention_backward_simd);

void causal_attention(const CausalAttentionInput& in, float* out, const CausalAttentionSaved& saved) {
  if (use_reference()) return causal_attention_reference(in, out, saved);
  HWY_DYNAMIC_DISPATCH(attention_forward_simd)(in, out, saved);
}

void causal_attention_backward(const CausalAttentionInput& in, const CausalAttentionSaved& saved, const float* dout,
                               const CausalAttentionGradients& gradients) {
  if (use_reference()) return causal_attention_backward_reference(in, saved, dout, gradients);
  HWY_DYNAMIC_DISPATCH(attention_backward_simd)(in, saved, dout, gradients);
}

}  // namespace mneme::kernels
#endif
