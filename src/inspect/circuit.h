// What attributions say about how a model recalls: rules and sentences.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "inspect/recall_cases.h"

namespace mneme::inspect {

// Mean over the kept examples of (p_patched - p_corrupt) / (p_clean - p_corrupt). Kept are those whose denominator
// exceeds kLeastEffect.
struct Attribution {
  double mean = 0, error = 0;  // standard error; 0 with one example
  std::int64_t count = 0;
};
inline constexpr double kLeastEffect = 0.01;
// None of the kept: no attribution. All are [N].
std::optional<Attribution> attribution(const torch::Tensor& clean, const torch::Tensor& corrupt,
                                       const torch::Tensor& patched);

// One cell of the heat map.
struct AttributionCell {
  std::int64_t layer = 0;
  std::string place;  // place_name()
  Kind kind = Kind::key;
  Attribution found;
};

// Where the corrupted token was the key.
struct KeyEvidence {
  std::int64_t examples = 0, kept = 0;
  std::int64_t layers = 0;
  std::vector<AttributionCell> cells;
};

struct Verdict {
  std::string name;                    // nothing, induction, direct, detour or undecided
  std::vector<std::string> sentences;  // with the numbers that they rest on
};

// A site carries the key if its attribution is at least this.
inline constexpr double kCarries = 0.5;
// Fewer kept examples than this, or than a tenth of all, are nothing.
inline constexpr std::int64_t kLeastKept = 10;

// The rules, in this order; "carries" is said of the output of a block at a kind of position:
//   nothing    too few examples in which the key matters
//   induction  before the first layer that carries at the query, a layer carries at the value
//   direct     no layer before it carries at the value, and none at other pairs or filler
//   detour     a layer before it carries at other pairs or filler
//   undecided  no layer carries at the query
Verdict recall_verdict(const KeyEvidence& evidence);

}  // namespace mneme::inspect
