// One layer of an RNN, LSTM or GRU over whole sequences, time first: the products with the state step by step,
// everything else of a step in one kernel, the gradients of the weights as one product over all steps.
// float32 on the CPU; differentiable in every argument. States start at zero.
#pragma once

#include "ops/torch.h"

namespace mneme::ops {

// a [L, B, H] = W_ih x + b_ih + b_hh, weight [H, H] -> h [L, B, H].
torch::Tensor rnn_layer(const torch::Tensor& a, const torch::Tensor& weight, bool relu);

// a [L, B, 4H], weight [4H, H] -> h [L, B, H].
torch::Tensor lstm_layer(const torch::Tensor& a, const torch::Tensor& weight);

// a [L, B, 3H] with b_hh of the r and z blocks only, weight [3H, H], bias_n [H] = b_hh of the n block.
torch::Tensor gru_layer(const torch::Tensor& a, const torch::Tensor& weight, const torch::Tensor& bias_n);

}  // namespace mneme::ops
