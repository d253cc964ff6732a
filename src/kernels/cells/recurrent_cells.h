// recurrent_cells: what happens in one time step of an RNN, LSTM or GRU after its matrix products, and back.
//
// R rows (the sequences of a batch), H channels; gate blocks lie side by side in a row, [R, blocks * H]:
//   rnn   h = tanh(a) or max(a, 0)
//   lstm  a = [i f g o];  c = s(f) c_old + s(i) tanh(g);  h = s(o) tanh(c)
//   gru   a = [r z n], b = W_hh h_old without bias = [r z n];
//         r = s(a_r + b_r);  z = s(a_z + b_z);  q = b_n + bias_n;  n = tanh(a_n + r q);  h = (1 - z) n + z h_old
// s is the logistic function. float32, contiguous. Every element is computed on its own, so the bits depend on
// nothing else. Pointers may be equal only where said.
#pragma once

#include <cstddef>

namespace mneme::kernels {

struct CellShape {
  std::size_t R, H;
};

// a and h are [R, H]; h may be a.
void rnn_cell(const CellShape& shape, bool relu, const float* a, float* h);
// da = dh * f'(a), from h alone; the derivative of relu at 0 is 0. da may be dh.
void rnn_cell_backward(const CellShape& shape, bool relu, const float* h, const float* dh, float* da);

struct LstmCellInput {
  CellShape shape;
  const float* c_old;  // [R, H]
};

struct LstmCellSaved {
  float* gates;  // [R, 4H]: a before lstm_cell, s(i) s(f) tanh(g) s(o) after it
  float* c;      // [R, H], overwritten
};

struct LstmCellGradients {
  float* dc;  // [R, H]: the gradient of c from later steps before lstm_cell_backward, that of c_old after it
  float* da;  // [R, 4H], overwritten
};

// out is h above, dout its gradient.
void lstm_cell(const LstmCellInput& in, float* out, const LstmCellSaved& saved);
void lstm_cell_backward(const LstmCellInput& in, const LstmCellSaved& saved, const float* dout,
                        const LstmCellGradients& gradients);

struct GruCellInput {
  CellShape shape;
  const float* h_old;   // [R, H]
  const float *a, *b;   // [R, 3H]; the backward pass does not read them
  const float* bias_n;  // [H]; nor this
};

struct GruCellSaved {
  float* gates;  // [R, 4H]: r z n q
};

struct GruCellGradients {
  float* dh_old;   // [R, H]: the part that reaches h_old past the product; may be dout
  float *da, *db;  // [R, 3H]; the n block of db is also the gradient of bias_n, before summing rows
};

// out is h above, dout its gradient.
void gru_cell(const GruCellInput& in, float* out, const GruCellSaved& saved);
void gru_cell_backward(const GruCellInput& in, const GruCellSaved& saved, const float* dout,
                       const GruCellGradients& gradients);

void rnn_cell_reference(const CellShape& shape, bool relu, const float* a, float* h);
void rnn_cell_backward_reference(const CellShape& shape, bool relu, const float* h, const float* dh, float* da);
void lstm_cell_reference(const LstmCellInput& in, float* out, const LstmCellSaved& saved);
void lstm_cell_backward_reference(const LstmCellInput& in, const LstmCellSaved& saved, const float* dout,
                                  const LstmCellGradients& gradients);
void gru_cell_reference(const GruCellInput& in, float* out, const GruCellSaved& saved);
void gru_cell_backward_reference(const GruCellInput& in, const GruCellSaved& saved, const float* dout,
                                 const GruCellGradients& gradients);

}  // namespace mneme::kernels
