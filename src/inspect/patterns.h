// How much of a mixing matrix lies where an algorithm for recall would put it.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "inspect/mixing.h"

namespace mneme::inspect {

inline constexpr std::array<const char*, 6> kPatterns{"previous", "previous_at_values", "same", "induction", "value",
                                                      "key"};

// For each pattern, the column that each row should look at, -1 where it says nothing of a row:
//   previous            the token before                        of every row but the first
//   previous_at_values  the token before                        of rows whose token is a value
//   same                the token itself                        of every row
//   induction           the token after the last earlier occurrence of this row's token (filler aside)
//   value, key          the value and the key that are asked    of labelled rows
using PatternColumns = std::array<std::vector<std::int64_t>, kPatterns.size()>;
PatternColumns pattern_columns(const Examples& examples, std::size_t example);

// The mean over the rows that a pattern speaks of, of the share of |M_t| at its column.
struct PatternScore {
  double sum = 0;
  std::int64_t rows = 0;
  void add(double share) {
    sum += share;
    ++rows;
  }
  Json json() const { return rows > 0 ? Json(sum / static_cast<double>(rows)) : Json(); }
};
using PatternScores = std::array<PatternScore, kPatterns.size()>;

// Adds one head's matrix [L, L].
void add_scores(PatternScores& scores, const torch::Tensor& size, const PatternColumns& columns);

}  // namespace mneme::inspect
