// Initialisation schemes for whole models. With r residual branches a layer and n layers:
//
//              Linear weight        Linear bias          Embedding     outputs (*)
//   zoology    N(0, 0.02^2)         0                    N(0, 0.02^2)  N(0, (0.02 / sqrt(2 n))^2)
//   neox       N(0, 0.02^2)         0                    N(0, 0.02^2)  as the others
//   torch      U(+-1/sqrt(in))      U(+-1/sqrt(in))      N(0, 1)       as the others
//   mamba      U(+-1/sqrt(in))      0                    N(0, 0.02^2)  U(+-1/sqrt(in)) / sqrt(r n)
//   own        U(+-1/sqrt(in))      U(+-1/sqrt(in))      N(0, 0.02^2)  as the others
// (*) parameters whose name contains out_proj.weight or fc2.weight; in a GLU that is the gate, as in the references.
// Under own the linear layers of modules that are OwnLinears then get what their reference gives them.
// LayerNorm is 1 and 0; modules that are SelfInitialised follow their own rule, under every scheme.
#pragma once

#include "config/run_config.h"
#include "nn/draw.h"

namespace mneme::models {

struct InitialisationRule {
  std::string scheme;         // a name of the table
  std::int64_t layers = 1;    // n
  std::int64_t branches = 1;  // r
};

void initialise(torch::nn::Module& model, const InitialisationRule& rule, const nn::Draw& draw);

// By the scheme of the run, for a model built from it. A value depends on (seed, name of the parameter) alone, but
// for the scale that the number of layers gives to the outputs.
void initialise(torch::nn::Module& model, const config::RunConfig& run, const nn::Draw& draw);

}  // namespace mneme::models
