// Models whose weights are set by hand, so that what they do is known without measuring it.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>

#include "models/sequence_model.h"

namespace mneme::testing {

struct HandSetModel {
  config::RunConfig run;
  std::shared_ptr<models::SequenceModel> model;

  // All parameters zero, but norms that stay 1.
  explicit HandSetModel(const std::string& toml) : run(config::resolve_run(parse_toml(toml, "hand-set"))) {
    model = models::build_model(run);
    const torch::NoGradGuard guard;
    for (const auto& item : model->named_parameters())
      item.value().fill_(item.key().find("norm") == item.key().npos ? 0 : 1);
  }
  torch::Tensor parameter(const std::string& name) { return model->named_parameters()[name]; }
};

// Two layers of attention with two heads, in a stack without norms and residual stream, that solve MQAR by induction.
// Tokens and positions are one-hot. Layer 0: head 0 copies the token itself to the channels [0, d), head 1 the token
// before it to [d, 2d). Layer 1: head 0 asks with the token itself for the position whose previous token is the same,
// and copies the token there; head 1 does nothing.
inline HandSetModel induction_attention(std::int64_t length = 32, std::int64_t pairs = 4, std::int64_t vocab = 48) {
  const std::int64_t d = std::max(vocab + 1, length);  // a head; channel `vocab` marks position 0, which has no past
  HandSetModel set(
      fmt::format("[task]\nname = 'mqar'\nlength = {}\npairs = {}\nvocab = {}\nfiller = 'zero'\n"
                  "[model]\nblock = 'plain'\nmixer = 'attention'\nlayers = 2\nwidth = {}\n"
                  "positions = 'learned'\nattention = {{num_heads = 2}}\n",
                  length, pairs, vocab, 2 * d));
  const torch::NoGradGuard guard;
  const float sharp = 200.0F * std::sqrt(static_cast<float>(d));  // scores of 200: a softmax that picks one position
  constexpr float kConfidence = 20.0F;                            // logit of the answer
  const auto layer = [](int i, const char* name) {
    return fmt::format("backbone.layers.{}.sequence_mixer.{}.weight", i, name);
  };
  const torch::Tensor tokens = set.parameter("backbone.embeddings.word_embeddings.weight"),
                      positions = set.parameter("backbone.embeddings.position_embeddings.weight"),
                      first = set.parameter(layer(0, "Wqkv")), second = set.parameter(layer(1, "Wqkv"));
  const std::int64_t q = 0, k = 2 * d, v = 4 * d, head = d;  // rows of the joint projection
  for (std::int64_t c = 0; c < vocab; ++c) tokens[c][c] = 1;
  for (std::int64_t p = 0; p < length; ++p) positions[p][d + p] = 1;
  positions[0][vocab] = 1;
  for (std::int64_t p = 0; p < length; ++p) {
    first[q + p][d + p] = sharp;
    if (p + 1 < length) first[q + head + p][d + p + 1] = sharp;
    first[k + p][d + p] = first[k + head + p][d + p] = 1;
  }
  for (std::int64_t c = 0; c <= vocab; ++c) first[v + c][c] = 1;
  for (std::int64_t c = 0; c < vocab; ++c) {
    first[v + head + c][c] = 1;
    second[q + c][c] = sharp;
    second[k + c][d + c] = 1;
    second[k + c][vocab] = -1;  // position 0 is its own past: it must not be found
    second[v + c][c] = 1;
  }
  set.parameter(layer(0, "out_proj")).copy_(torch::eye(2 * d));
  set.parameter(layer(1, "out_proj")).narrow(0, 0, d).narrow(1, 0, d).copy_(kConfidence * torch::eye(d));
  return set;
}

// One layer of linear attention without decay (gla) whose keys are shifted by one token through its convolution: at a
// value, the state adds (key before it) x (value). Key token c (1 to vocab / 2 - 1) is the unit vector (c - 1) mod d
// of the d key channels, so d keys are orthonormal and the next ones share their directions. vocab / d is a power of 2.
inline HandSetModel shifted_linear_attention(std::int64_t vocab = 64, std::int64_t d = 16) {
  HandSetModel set(
      fmt::format("[task]\nname = 'mqar'\nlength = 32\npairs = 8\nvocab = {}\nfiller = 'zero'\n"
                  "[model]\nblock = 'plain'\nmixer = 'gla'\nlayers = 1\nwidth = {}\n"
                  "gla = {{num_heads = 1, expand_k = {}, expand_v = 1.0, use_short_conv = true, "
                  "conv_size = 2, use_output_gate = false}}\n",
                  vocab, vocab, static_cast<double>(d) / static_cast<double>(vocab)));
  const torch::NoGradGuard guard;
  const auto part = [&](const char* name) {
    return set.parameter(fmt::format("backbone.layers.0.sequence_mixer.{}", name));
  };
  set.parameter("backbone.embeddings.word_embeddings.weight").copy_(torch::eye(vocab));
  constexpr float kScale = 10.0F;  // SiLU is nearly the identity there
  for (std::int64_t c = 1; c < vocab / 2; ++c)
    part("q_proj.weight")[(c - 1) % d][c] = part("k_proj.weight")[(c - 1) % d][c] = kScale;
  for (std::int64_t c = vocab / 2; c < vocab; ++c) part("v_proj.weight")[c][c] = kScale;
  part("k_conv1d.weight").select(2, 0).fill_(1);  // the token before
  part("q_conv1d.weight").select(2, 1).fill_(1);
  part("v_conv1d.weight").select(2, 1).fill_(1);
  part("gk_proj.1.bias").fill_(1e4);  // a decay of exactly 1
  part("o_proj.weight").copy_(5.0F * torch::eye(vocab));
  return set;
}

// One layer of DeltaNet with beta = 2 that says the parity of the ones so far: a 1 reflects the state along its key and
// adds twice the same vector, so the state is 2v, 0, 2v, ...; a 0 has another key and nothing to write.
inline HandSetModel parity_deltanet() {
  HandSetModel set(
      "[task]\nname = 'cumulative_parity'\nlength = 64\n[model]\nblock = 'plain'\nmixer = 'deltanet'\nlayers = 1\n"
      "width = 4\nhead_bias = true\ndeltanet = {num_heads = 1, use_beta = false, allow_neg_eigval = true, "
      "use_short_conv = false}\n");
  const torch::NoGradGuard guard;
  const auto part = [&](const char* name) {
    return set.parameter(fmt::format("backbone.layers.0.sequence_mixer.{}.weight", name));
  };
  set.parameter("backbone.embeddings.word_embeddings.weight").copy_(torch::eye(2, 4));
  constexpr float kScale = 10.0F;
  part("q_proj")[0][0] = part("q_proj")[0][1] = kScale;
  part("k_proj")[1][0] = part("k_proj")[0][1] = kScale;
  part("v_proj")[0][1] = kScale;
  // The output norm makes 2v a 2 on the first channel. Class 1 reads it, class 0 is the constant half-way.
  part("o_proj")[1][0] = 10;
  set.parameter("lm_head_bias")[0] = 10;
  return set;
}

}  // namespace mneme::testing
