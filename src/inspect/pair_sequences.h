// Sequences of key-value pairs made to ask what a state holds.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "inspect/subject.h"

namespace mneme::inspect {

// Tokens that the task uses as keys and as values, no token in both.
struct PairTokens {
  std::vector<std::int32_t> keys, values;
};

// Why the task's sequences are not pairs; empty if they are: then they begin key value key value.
std::string why_no_pairs(const Subject& subject, const Examples& examples);

// Of the task's test split: at most `keys` keys and `values` values. Where positions are learned or the state grows,
// as many keys as pairs fit into a sequence of the task and leave room for a query. The model must have step().
PairTokens pair_tokens(const Subject& subject, std::int64_t keys, std::int64_t values);

// Sequences key_1 value key_2 value ...: the same keys in the same places in all of them, fresh values.
struct PairSequences {
  torch::Tensor tokens;  // [N, 2P] int32
  torch::Tensor labels;  // [N, P] int64: which value follows each key
};
PairSequences pair_sequences(const PairTokens& tokens, std::int64_t count, std::uint64_t key);

// Two sequences for each of P pairs, in this order: those of row 0 of `base` with the first value after pair i's key,
// then with the second. [2P, 2P].
torch::Tensor one_value_changed(const PairTokens& tokens, const torch::Tensor& base);

}  // namespace mneme::inspect
