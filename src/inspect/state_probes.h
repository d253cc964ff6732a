// What a model's state holds after n key-value pairs: how much of their values can be read off it by a linear map.
#pragma once

#include <vector>

#include "inspect/pair_sequences.h"
#include "inspect/ridge.h"

namespace mneme::inspect {

// After `pairs` pairs, in what one layer's sequence mixer carries (the windows of short convolutions are left out).
struct HeldState {
  std::int64_t layer = 0, pairs = 0;
  std::int64_t floats = 0;       // of one sequence
  std::vector<double> accuracy;  // of the probe of each pair, in the order of the sequence
  double shuffled = 0;           // mean accuracy with labels that belong to other sequences: chance
  double rank = 0;               // effective rank of the states over sequences
  double interference = 0;       // mean |cosine| of the changes that a new value makes, between pairs
};

// What the model itself says, asked for each key right after `pairs` pairs: the share of answers that are right among
// the values that occur.
struct ReadBack {
  std::int64_t pairs = 0;
  double accuracy = 0;
};

struct StateContents {
  std::vector<HeldState> held;  // by number of pairs, then by layer; of finite states only
  std::vector<ReadBack> read;
};

// The model must have step(); `pairs` ascends.
StateContents state_contents(models::SequenceModel& model, const PairTokens& tokens,
                             const std::vector<std::int64_t>& pairs, const ProbeSplit& split);

// 1, 2, 4, ... and `most`, and `own` if it is not larger.
std::vector<std::int64_t> pair_counts(std::int64_t most, std::int64_t own);

}  // namespace mneme::inspect
