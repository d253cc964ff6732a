// How the papers score predictions on token tasks. No model in sight: predictions and labels in, numbers out.
//
// Positions with label kUnlabelled do not count, and neither do examples without any labelled position.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tasks/example.h"

namespace mneme::tasks {

// A share that keeps its counts.
struct Share {
  std::int64_t right = 0;
  std::int64_t of = 0;
  double value() const { return of == 0 ? 0.0 : static_cast<double>(right) / static_cast<double>(of); }
  void count(bool is_right) { right += is_right, ++of; }
};

class TokenScore {
 public:
  void add(std::span<const std::int32_t> predictions, std::span<const std::int32_t> labels);

  // Over all labelled positions.
  double accuracy() const { return tokens_.value(); }
  // Mean over examples of an example's share of right answers: MQAR's per-query accuracy.
  double example_accuracy() const;
  // Examples with every labelled position right.
  double exact_match() const { return examples_.value(); }
  const std::vector<Share>& by_position() const { return positions_; }
  std::int64_t examples() const { return examples_.of; }

 private:
  Share tokens_, examples_;
  double example_shares_ = 0;
  std::vector<Share> positions_;
};

// Accuracy by the distance between a labelled position and the position of its answer in the input
// (Task::sources; for recall the key), in bins that double.
class DistanceScore {
 public:
  struct Bin {
    std::int64_t from, to;  // distances from <= d < to
    Share share;
  };
  void add(std::span<const std::int32_t> predictions, std::span<const std::int32_t> labels,
           std::span<const std::int32_t> sources);
  std::vector<Bin> bins() const;

 private:
  std::vector<Share> by_exponent_;
};

// Teacher-forced accuracy of copied strings: each run of labelled positions that ends in the stop token is a
// string, right if all its letters are. The stop token itself is not scored.
class StringScore {
 public:
  explicit StringScore(std::int32_t stop) : stop_(stop) {}
  void add(std::span<const std::int32_t> predictions, std::span<const std::int32_t> labels);
  double string_accuracy() const { return strings_.value(); }
  double character_accuracy() const { return characters_.value(); }
  std::int64_t strings() const { return strings_.of; }

 private:
  std::int32_t stop_;
  Share strings_, characters_;
};

struct LengthScore {
  std::int64_t length;
  double accuracy;
};

// The greatest length that is reached: it and every shorter one in the list score above `threshold`.
// 0 if the shortest does not.
std::int64_t reached_length(std::vector<LengthScore> scores, double threshold = 0.9);

// A configuration passes if at least three of five seeds do, or as large a share of another number.
bool enough_seeds(std::int64_t passed, std::int64_t seeds);

}  // namespace mneme::tasks
