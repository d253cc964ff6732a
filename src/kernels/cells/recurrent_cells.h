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

struct CellSizes {
  std::size_t rows, channels;  // R, H
};

struct RnnCellArguments {
  CellSizes sizes;
  bool relu;
  const float* a;  // [R, H]
  float* h;        // [R, H]; may be a
};

// da = dh * f'(a), from h alone; the derivative of relu at 0 is 0. da may be dh.
struct RnnCellBackwardArguments {
  CellSizes sizes;
  bool relu;
  const float* h;
  const float* dh;
  float* da;
};

struct LstmCellArguments {
  CellSizes sizes;
  float* gates;        // [R, 4H]: a on entry, s(i) s(f) tanh(g) s(o) on return
  const float* c_old;  // [R, H]
  float* c;            // [R, H]
  float* h;            // [R, H]
};

struct LstmCellBackwardArguments {
  CellSizes sizes;
  const float* gates;  // as the forward left them
  const float* c_old;
  const float* c;
  const float* dh;  // [R, H]
  float* dc;        // [R, H]: the gradient of c from later steps on entry, that of c_old on return
  float* da;        // [R, 4H]
};

struct GruCellArguments {
  CellSizes sizes;
  const float* a;       // [R, 3H]
  const float* b;       // [R, 3H]
  const float* bias_n;  // [H]
  const float* h_old;   // [R, H]
  float* gates;         // [R, 4H]: r z n q
  float* h;             // [R, H]
};

struct GruCellBackwardArguments {
  CellSizes sizes;
  const float* gates;  // as the forward left them
  const float* h_old;
  float* dh;  // [R, H]: the gradient of h on entry, the part that reaches h_old past the product on return
  float* da;  // [R, 3H]
  float* db;  // [R, 3H]; its n block is also the gradient of bias_n, before summing rows
};

void rnn_cell(const RnnCellArguments& arguments);
void rnn_cell_reference(const RnnCellArguments& arguments);
void rnn_cell_backward(const RnnCellBackwardArguments& arguments);
void rnn_cell_backward_reference(const RnnCellBackwardArguments& arguments);

void lstm_cell(const LstmCellArguments& arguments);
void lstm_cell_reference(const LstmCellArguments& arguments);
void lstm_cell_backward(const LstmCellBackwardArguments& arguments);
void lstm_cell_backward_reference(const LstmCellBackwardArguments& arguments);

void gru_cell(const GruCellArguments& arguments);
void gru_cell_reference(const GruCellArguments& arguments);
void gru_cell_backward(const GruCellBackwardArguments& arguments);
void gru_cell_backward_reference(const GruCellBackwardArguments& arguments);

}  // namespace mneme::kernels
