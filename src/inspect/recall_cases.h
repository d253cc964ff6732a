// Examples in which one query is answered by one key-value pair, and the same with one token of the pair replaced.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "inspect/subject.h"

namespace mneme::inspect {

// What a position is to the query that is looked at.
enum class Kind : std::uint8_t { key, value, query, other, filler };
inline constexpr std::array kKinds = {Kind::key, Kind::value, Kind::query, Kind::other, Kind::filler};
std::string_view kind_name(Kind kind);  // other: "other pairs", tokens of other pairs and their queries

struct RecallCases {
  torch::Tensor tokens;                         // [N, L] int32
  std::vector<std::int64_t> key, value, query;  // positions, one of each an example
  std::vector<std::int64_t> answers;            // labels at the queries
  std::array<torch::Tensor, kKinds.size()> at;  // by kind: bool [N, L], every position in exactly one

  std::int64_t count() const { return tokens.size(0); }
  const torch::Tensor& positions(Kind kind) const { return at[static_cast<std::size_t>(kind)]; }

  // The tokens with each example's key (or value) replaced by that of another example that does not occur in this one;
  // where there is none, because the key of the task is one fixed token, by a filler. Undefined if nothing fits.
  torch::Tensor corrupted(Kind kind) const;
};

// Why a task has no such cases; empty if it has. Needed are keys, values and queries among the roles of its tokens, and
// the key that answers each query.
std::string why_no_recall(const Subject& subject, const Examples& examples);

// One case an example: example i looks at its query number i, counted round.
RecallCases recall_cases(const Examples& examples);

}  // namespace mneme::inspect
