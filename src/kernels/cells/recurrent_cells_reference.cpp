#include <cmath>

#include "kernels/cells/recurrent_cells.h"

namespace mneme::kernels {
namespace {

double logistic(double x) { return 1.0 / (1.0 + std::exp(-x)); }
float narrow(double x) { return static_cast<float>(x); }

}  // namespace

void rnn_cell_reference(const CellShape& shape, bool relu, const float* a, float* h) {
  for (std::size_t i = 0; i < shape.R * shape.H; ++i)
    h[i] = relu ? (a[i] <= 0 ? 0.0F : a[i]) : narrow(std::tanh(static_cast<double>(a[i])));
}

void rnn_cell_backward_reference(const CellShape& shape, bool relu, const float* h, const float* dh, float* da) {
  for (std::size_t i = 0; i < shape.R * shape.H; ++i) {
    const double y = h[i];
    da[i] = narrow(dh[i] * (relu ? (y > 0 ? 1.0 : 0.0) : 1.0 - y * y));
  }
}

void lstm_cell_reference(const LstmCellInput& in, float* out, const LstmCellSaved& saved) {
  const auto [R, H] = in.shape;
  for (std::size_t r = 0; r < R; ++r)
    for (std::size_t k = 0; k < H; ++k) {
      float* gate = saved.gates + r * 4 * H + k;
      const double i = logistic(gate[0]), f = logistic(gate[H]);
      const double g = std::tanh(static_cast<double>(gate[2 * H])), o = logistic(gate[3 * H]);
      const double c = f * in.c_old[r * H + k] + i * g;
      gate[0] = narrow(i);
      gate[H] = narrow(f);
      gate[2 * H] = narrow(g);
      gate[3 * H] = narrow(o);
      saved.c[r * H + k] = narrow(c);
      out[r * H + k] = narrow(o * std::tanh(c));
    }
}

void lstm_cell_backward_reference(const LstmCellInput& in, const LstmCellSaved& saved, const float* dout,
                                  const LstmCellGradients& to) {
  const auto [R, H] = in.shape;
  for (std::size_t r = 0; r < R; ++r)
    for (std::size_t k = 0; k < H; ++k) {
      const std::size_t at = r * H + k;
      const float* gate = saved.gates + r * 4 * H + k;
      const double i = gate[0], f = gate[H], g = gate[2 * H], o = gate[3 * H];
      const double squashed = std::tanh(static_cast<double>(saved.c[at])), dh = dout[at];
      const double dc = to.dc[at] + dh * o * (1.0 - squashed * squashed);
      float* da = to.da + r * 4 * H + k;
      da[0] = narrow(dc * g * i * (1.0 - i));
      da[H] = narrow(dc * in.c_old[at] * f * (1.0 - f));
      da[2 * H] = narrow(dc * i * (1.0 - g * g));
      da[3 * H] = narrow(dh * squashed * o * (1.0 - o));
      to.dc[at] = narrow(dc * f);
    }
}

void gru_cell_reference(const GruCellInput& input, float* out, const GruCellSaved& saved) {
  const auto [R, H] = input.shape;
  for (std::size_t row = 0; row < R; ++row)
    for (std::size_t k = 0; k < H; ++k) {
      const float *in = input.a + row * 3 * H + k, *back = input.b + row * 3 * H + k;
      float* gate = saved.gates + row * 4 * H + k;
      const double r = logistic(static_cast<double>(in[0]) + back[0]);
      const double z = logistic(static_cast<double>(in[H]) + back[H]);
      const double q = static_cast<double>(back[2 * H]) + input.bias_n[k];
      const double n = std::tanh(in[2 * H] + r * q);
      gate[0] = narrow(r);
      gate[H] = narrow(z);
      gate[2 * H] = narrow(n);
      gate[3 * H] = narrow(q);
      out[row * H + k] = narrow((1.0 - z) * n + z * input.h_old[row * H + k]);
    }
}

void gru_cell_backward_reference(const GruCellInput& input, const GruCellSaved& saved, const float* dout,
                                 const GruCellGradients& to) {
  const auto [R, H] = input.shape;
  for (std::size_t row = 0; row < R; ++row)
    for (std::size_t k = 0; k < H; ++k) {
      const std::size_t at = row * H + k;
      const float* gate = saved.gates + row * 4 * H + k;
      const double r = gate[0], z = gate[H], n = gate[2 * H], q = gate[3 * H], dh = dout[at];
      const double dn = dh * (1.0 - z) * (1.0 - n * n), dr = dn * q * r * (1.0 - r);
      const double dz = dh * (input.h_old[at] - n) * z * (1.0 - z);
      float *da = to.da + row * 3 * H + k, *db = to.db + row * 3 * H + k;
      da[0] = db[0] = narrow(dr);
      da[H] = db[H] = narrow(dz);
      da[2 * H] = narrow(dn);
      db[2 * H] = narrow(dn * r);
      to.dh_old[at] = narrow(dh * z);
    }
}

}  // namespace mneme::kernels
