#include "kernels/attention/attention_layer.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/simd/dispatch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/attention/attention_layer.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/attention/causal_attention-inl.h"
#include "kernels/dense/matmul-inl.h"
#include "kernels/dense/outer_products-inl.h"
#include "kernels/simd/row_sums-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mneme::kernels::HWY_NAMESPACE {
namespace {

// A few sequences, about as many tokens as a block of a sum over tokens, and their queries.
class SequenceGroup {
 public:
  explicit SequenceGroup(const AttentionLayerInput& layer)
      : in_(layer), largest_(std::min(layer.B, std::max<std::size_t>(1, 256 / layer.L))) {}

  std::size_t most_tokens() const { return largest_ * in_.L; }

  // The next group, if there is one.
  bool next() {
    first_ += sequences_;
    first_row_ += rows_;
    if (first_ == in_.B) return false;
    sequences_ = std::min(largest_, in_.B - first_);
    rows_ = tokens();
    if (in_.positions) find_positions();
    return true;
  }

  std::size_t tokens() const { return sequences_ * in_.L; }
  std::size_t rows() const { return rows_; }
  std::size_t first_token() const { return first_ * in_.L; }
  std::size_t first_row() const { return first_row_; }

  const float* x() const { return in_.x + first_token() * in_.D; }
  // Rows of x that have a query.
  const float* query_inputs() const { return in_.positions ? inputs_.data() : x(); }
  // Their positions among the group's tokens; null: all.
  const std::int64_t* positions() const { return in_.positions ? positions_.data() : nullptr; }

  CausalAttentionInput attention(const AttentionLayerSaved& saved) const {
    const std::size_t D = in_.D, d = D / in_.H;
    const float* kv = saved.kv + first_token() * 2 * D;
    return {.B = sequences_,
            .L = in_.L,
            .H = in_.H,
            .d = d,
            .scale = static_cast<float>(1.0 / std::sqrt(static_cast<double>(d))),
            .q = {saved.q + first_row_ * D, D},
            .k = {kv, 2 * D},
            .v = {kv + D, 2 * D},
            .positions = positions(),
            .R = rows_};
  }

 private:
  void find_positions() {
    const auto begin = static_cast<std::int64_t>(first_token()), end = begin + static_cast<std::int64_t>(tokens());
    positions_.clear();
    inputs_.clear();
    for (std::size_t r = first_row_; r < in_.R && in_.positions[r] < end; ++r) {
      const float* row = in_.x + static_cast<std::size_t>(in_.positions[r]) * in_.D;
      positions_.push_back(in_.positions[r] - begin);
      inputs_.insert(inputs_.end(), row, row + in_.D);
    }
    rows_ = positions_.size();
  }

  const AttentionLayerInput& in_;
  std::size_t largest_, first_ = 0, sequences_ = 0, first_row_ = 0, rows_ = 0;
  std::vector<std::int64_t> positions_;
  std::vector<float> inputs_;
};

void attention_layer_simd(const AttentionLayerInput& in, float* y, const AttentionLayerSaved& saved) {
  const std::size_t D = in.D;
  Panels queries(D, D), keys_values(D, 2 * D), out(D, D);
  queries.pack_transposed(in.weight_in, D, in.bias_in);
  keys_values.pack_transposed(in.weight_in + D * D, D, in.bias_in ? in.bias_in + D : nullptr);
  out.pack_transposed(in.weight_out, D, in.bias_out);
  for (SequenceGroup group(in); group.next();) {
    const std::size_t row = group.first_row();
    multiply({group.x(), D, 1}, group.tokens(), keys_values, saved.kv + group.first_token() * 2 * D, 2 * D);
    if (group.rows() == 0) continue;
    multiply({group.query_inputs(), D, 1}, group.rows(), queries, saved.q + row * D, D);
    attention_forward(group.attention(saved), saved.context + row * D, {saved.lse + row * in.H});
    multiply({saved.context + row * D, D, 1}, group.rows(), out, y + row * D, D);
  }
}

void attention_layer_backward_simd(const AttentionLayerInput& in, const AttentionLayerSaved& saved, const float* dy,
                                   const AttentionLayerGradients& to) {
  const std::size_t D = in.D, T = in.B * in.L, R = in.rows();
  Panels queries(D, D), keys_values(2 * D, D), out(D, D);
  queries.pack(in.weight_in, D);
  keys_values.pack(in.weight_in + D * D, D);
  out.pack(in.weight_out, D);
  OuterProducts for_out(R, D, D, to.dweight_out, D), for_queries(R, D, D, to.dweight_in, D),
      for_keys_values(T, 2 * D, D, to.dweight_in + D * D, D);
  SequenceGroup group(in);
  const std::size_t room = group.most_tokens() * D, pitch = spread(2 * D);
  const AlignedFloats dcontext(room, kUnset), dq(room, kUnset), dkv(group.most_tokens() * pitch, kUnset);
  const AlignedFloats dinputs(in.positions ? room : 0, kUnset);
  while (group.next()) {
    const std::size_t row = group.first_row(), rows = group.rows(), tokens = group.tokens();
    const float *dout = dy + row * D, *context = saved.context + row * D;
    float* dx = to.dx + group.first_token() * D;
    if (rows == 0) {
      std::fill_n(dx, tokens * D, 0.0F);
      continue;
    }
    multiply({dout, D, 1}, rows, out, dcontext, D);
    for_out.add(dout, D, context, D, rows);
    add_rows(dout, D, rows, D, to.dbias_out);
    attention_backward(group.attention(saved), {saved.lse + row * in.H}, dcontext, {dq, D, dkv, dkv + D, pitch});
    multiply({dkv, pitch, 1}, tokens, keys_values, dx, D);
    if (const std::int64_t* positions = group.positions()) {
      multiply({dq, D, 1}, rows, queries, dinputs, D);
      for (std::size_t r = 0; r < rows; ++r) {
        float* token = dx + static_cast<std::size_t>(positions[r]) * D;
        const float* from = dinputs + r * D;
        for_row(D, [&](auto d, std::size_t i) {
          hn::StoreU(hn::Add(hn::LoadU(d, token + i), hn::LoadU(d, from + i)), d, token + i);
        });
      }
    } else {
      multiply({dq, D, 1}, rows, queries, dx, D, true);
    }
    for_queries.add(dq, D, group.query_inputs(), D, rows);
    for_keys_values.add(dkv, pitch, group.x(), D, tokens);
    if (to.dbias_in) {
      add_rows(dq, D, rows, D, to.dbias_in);
      add_rows(dkv, pitch, tokens, 2 * D, to.dbias_in + D);
    }
  }
  for_out.finish();
  for_queries.finish();
  for_keys_values.finish();
}

}  // namespace
}  // namespace mneme::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mneme::kernels {

HWY_EXPORT(attention_layer_simd);
HWY_EXPORT(attention_layer_backward_simd);

void attention_layer(const AttentionLayerInput& in, float* out, const AttentionLayerSaved& saved) {
  if (use_reference()) return attention_layer_reference(in, out, saved);
  HWY_DYNAMIC_DISPATCH(attention_layer_simd)(in, out, saved);
}

void attention_layer_backward(const AttentionLayerInput& in, const AttentionLayerSaved& saved, const float* dout,
                              const AttentionLayerGradients& gradients) {
  if (use_reference()) return attention_layer_backward_reference(in, saved, dout, gradients);
  HWY_DYNAMIC_DISPATCH(attention_layer_backward_simd)(in, saved, dout, gradients);
}

}  // namespace mneme::kernels
#endif
