#include "kernels/cells/recurrent_cells.h"

#include "kernels/simd/dispatch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cells/recurrent_cells.cpp"
#include <hwy/foreach_target.h>  // before all others of the library

#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace mneme::kernels::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using Floats = hn::ScalableTag<float>;
using Scalar = hn::CappedTag<float, 1>;

// The last H mod lanes channels go through the same formulas one by one: a value must not depend on where
// in a row it stands.
template <class Body>
HWY_INLINE void for_channels(std::size_t H, const Body& body) {
  const Floats d;
  std::size_t k = 0;
  for (; k + hn::Lanes(d) <= H; k += hn::Lanes(d)) body(d, k);
  for (; k < H; ++k) body(Scalar(), k);
}

// Highway's exponential is wrong above 104 and gives 0 for a NaN; here both must come out as they should.
template <class D, class V>
HWY_INLINE V logistic(D d, V x) {
  const auto one = hn::Set(d, 1.0F);
  const auto y = hn::Div(one, hn::Add(one, hn::Exp(d, hn::Min(hn::Neg(x), hn::Set(d, 88.0F)))));
  return hn::IfThenElse(hn::IsNaN(x), x, y);
}

template <class D, class V>
HWY_INLINE V tanh_of(D d, V x) {
  return hn::IfThenElse(hn::IsNaN(x), x, hn::Tanh(d, x));
}

// 1 - x * x
template <class D, class V>
HWY_INLINE V tanh_slope(D d, V x) {
  return hn::NegMulAdd(x, x, hn::Set(d, 1.0F));
}

// x * (1 - x)
template <class D, class V>
HWY_INLINE V logistic_slope(D, V x) {
  return hn::NegMulAdd(x, x, x);
}

void rnn_cell_simd(const CellShape& shape, bool relu, const float* a, float* h) {
  const std::size_t count = shape.R * shape.H;
  if (relu) {
    for_channels(count, [&](auto d, std::size_t i) {
      // Asked so that a NaN stays: divergence must not be hidden.
      const auto x = hn::LoadU(d, a + i);
      hn::StoreU(hn::IfThenZeroElse(hn::Le(x, hn::Zero(d)), x), d, h + i);
    });
    return;
  }
  for_channels(count, [&](auto d, std::size_t i) { hn::StoreU(tanh_of(d, hn::LoadU(d, a + i)), d, h + i); });
}

void rnn_cell_backward_simd(const CellShape& shape, bool relu, const float* all_h, const float* all_dh, float* all_da) {
  for_channels(shape.R * shape.H, [&](auto d, std::size_t i) {
    const auto h = hn::LoadU(d, all_h + i), dh = hn::LoadU(d, all_dh + i);
    const auto da = relu ? hn::IfThenElseZero(hn::Gt(h, hn::Zero(d)), dh) : hn::Mul(dh, tanh_slope(d, h));
    hn::StoreU(da, d, all_da + i);
  });
}

void lstm_cell_simd(const LstmCellInput& in, float* out, const LstmCellSaved& saved) {
  const auto [rows, H] = in.shape;
  for (std::size_t r = 0; r < rows; ++r) {
    float* gates = saved.gates + r * 4 * H;
    const float* c_old = in.c_old + r * H;
    float *c_out = saved.c + r * H, *h_out = out + r * H;
    const std::size_t width = H;
    for_channels(H, [=](auto d, std::size_t k) {
      const auto i = logistic(d, hn::LoadU(d, gates + k));
      const auto f = logistic(d, hn::LoadU(d, gates + width + k));
      const auto g = tanh_of(d, hn::LoadU(d, gates + 2 * width + k));
      const auto o = logistic(d, hn::LoadU(d, gates + 3 * width + k));
      const auto c = hn::MulAdd(f, hn::LoadU(d, c_old + k), hn::Mul(i, g));
      hn::StoreU(i, d, gates + k);
      hn::StoreU(f, d, gates + width + k);
      hn::StoreU(g, d, gates + 2 * width + k);
      hn::StoreU(o, d, gates + 3 * width + k);
      hn::StoreU(c, d, c_out + k);
      hn::StoreU(hn::Mul(o, tanh_of(d, c)), d, h_out + k);
    });
  }
}

void lstm_cell_backward_simd(const LstmCellInput& in, const LstmCellSaved& saved, const float* dout,
                             const LstmCellGradients& to) {
  const auto [rows, H] = in.shape;
  for (std::size_t r = 0; r < rows; ++r) {
    const float *gates = saved.gates + r * 4 * H, *c_old = in.c_old + r * H, *c_new = saved.c + r * H,
                *dh_in = dout + r * H;
    float *dc_io = to.dc + r * H, *da = to.da + r * 4 * H;
    const std::size_t width = H;
    for_channels(H, [=](auto d, std::size_t k) {
      const auto i = hn::LoadU(d, gates + k), f = hn::LoadU(d, gates + width + k);
      const auto g = hn::LoadU(d, gates + 2 * width + k), o = hn::LoadU(d, gates + 3 * width + k);
      const auto squashed = tanh_of(d, hn::LoadU(d, c_new + k)), dh = hn::LoadU(d, dh_in + k);
      const auto dc = hn::MulAdd(hn::Mul(dh, o), tanh_slope(d, squashed), hn::LoadU(d, dc_io + k));
      hn::StoreU(hn::Mul(hn::Mul(dc, g), logistic_slope(d, i)), d, da + k);
      hn::StoreU(hn::Mul(hn::Mul(dc, hn::LoadU(d, c_old + k)), logistic_slope(d, f)), d, da + width + k);
      hn::StoreU(hn::Mul(hn::Mul(dc, i), tanh_slope(d, g)), d, da + 2 * width + k);
      hn::StoreU(hn::Mul(hn::Mul(dh, squashed), logistic_slope(d, o)), d, da + 3 * width + k);
      hn::StoreU(hn::Mul(dc, f), d, dc_io + k);
    });
  }
}

void gru_cell_simd(const GruCellInput& input, float* out, const GruCellSaved& saved) {
  const auto [rows, H] = input.shape;
  for (std::size_t row = 0; row < rows; ++row) {
    const float *in = input.a + row * 3 * H, *back = input.b + row * 3 * H, *h_old = input.h_old + row * H,
                *bias = input.bias_n;
    float *gates = saved.gates + row * 4 * H, *h_out = out + row * H;
    const std::size_t width = H;
    for_channels(H, [=](auto d, std::size_t k) {
      const auto r = logistic(d, hn::Add(hn::LoadU(d, in + k), hn::LoadU(d, back + k)));
      const auto z = logistic(d, hn::Add(hn::LoadU(d, in + width + k), hn::LoadU(d, back + width + k)));
      const auto q = hn::Add(hn::LoadU(d, back + 2 * width + k), hn::LoadU(d, bias + k));
      const auto n = tanh_of(d, hn::MulAdd(r, q, hn::LoadU(d, in + 2 * width + k)));
      hn::StoreU(r, d, gates + k);
      hn::StoreU(z, d, gates + width + k);
      hn::StoreU(n, d, gates + 2 * width + k);
      hn::StoreU(q, d, gates + 3 * width + k);
      hn::StoreU(hn::MulAdd(z, hn::Sub(hn::LoadU(d, h_old + k), n), n), d, h_out + k);
    });
  }
}

void gru_cell_backward_simd(const GruCellInput& input, const GruCellSaved& saved, const float* dout,
                            const GruCellGradients& to) {
  const auto [rows, H] = input.shape;
  for (std::size_t row = 0; row < rows; ++row) {
    const float *gates = saved.gates + row * 4 * H, *h_old = input.h_old + row * H, *dh_in = dout + row * H;
    float *dh_old = to.dh_old + row * H, *da = to.da + row * 3 * H, *db = to.db + row * 3 * H;
    const std::size_t width = H;
    for_channels(H, [=](auto d, std::size_t k) {
      const auto r = hn::LoadU(d, gates + k), z = hn::LoadU(d, gates + width + k);
      const auto n = hn::LoadU(d, gates + 2 * width + k), q = hn::LoadU(d, gates + 3 * width + k);
      const auto dh = hn::LoadU(d, dh_in + k);
      const auto dn = hn::Mul(hn::NegMulAdd(dh, z, dh), tanh_slope(d, n));
      const auto dr = hn::Mul(hn::Mul(dn, q), logistic_slope(d, r));
      const auto dz = hn::Mul(hn::Mul(dh, hn::Sub(hn::LoadU(d, h_old + k), n)), logistic_slope(d, z));
      hn::StoreU(dr, d, da + k);
      hn::StoreU(dr, d, db + k);
      hn::StoreU(dz, d, da + width + k);
      hn::StoreU(dz, d, db + width + k);
      hn::StoreU(dn, d, da + 2 * width + k);
      hn::StoreU(hn::Mul(dn, r), d, db + 2 * width + k);
      hn::StoreU(hn::Mul(dh, z), d, dh_old + k);
    });
  }
}

}  // namespace
}  // namespace mneme::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mneme::kernels {

HWY_EXPORT(rnn_cell_simd);
HWY_EXPORT(rnn_cell_backward_simd);
HWY_EXPORT(lstm_cell_simd);
HWY_EXPORT(lstm_cell_backward_simd);
HWY_EXPORT(gru_cell_simd);
HWY_EXPORT(gru_cell_backward_simd);

void rnn_cell(const CellShape& shape, bool relu, const float* a, float* h) {
  if (use_reference()) return rnn_cell_reference(shape, relu, a, h);
  HWY_DYNAMIC_DISPATCH(rnn_cell_simd)(shape, relu, a, h);
}

void rnn_cell_backward(const CellShape& shape, bool relu, const float* h, const float* dh, float* da) {
  if (use_reference()) return rnn_cell_backward_reference(shape, relu, h, dh, da);
  HWY_DYNAMIC_DISPATCH(rnn_cell_backward_simd)(shape, relu, h, dh, da);
}

void lstm_cell(const LstmCellInput& in, float* out, const LstmCellSaved& saved) {
  if (use_reference()) return lstm_cell_reference(in, out, saved);
  HWY_DYNAMIC_DISPATCH(lstm_cell_simd)(in, out, saved);
}

void lstm_cell_backward(const LstmCellInput& in, const LstmCellSaved& saved, const float* dout,
                        const LstmCellGradients& gradients) {
  if (use_reference()) return lstm_cell_backward_reference(in, saved, dout, gradients);
  HWY_DYNAMIC_DISPATCH(lstm_cell_backward_simd)(in, saved, dout, gradients);
}

void gru_cell(const GruCellInput& in, float* out, const GruCellSaved& saved) {
  if (use_reference()) return gru_cell_reference(in, out, saved);
  HWY_DYNAMIC_DISPATCH(gru_cell_simd)(in, out, saved);
}

void gru_cell_backward(const GruCellInput& in, const GruCellSaved& saved, const float* dout,
                       const GruCellGradients& gradients) {
  if (use_reference()) return gru_cell_backward_reference(in, saved, dout, gradients);
  HWY_DYNAMIC_DISPATCH(gru_cell_backward_simd)(in, saved, dout, gradients);
}

}  // namespace mneme::kernels
#endif
