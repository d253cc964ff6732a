#include "tasks/protocols.h"

#include <algorithm>
#include <bit>

#include "core/error.h"

namespace mneme::tasks {

void TokenScore::add(std::span<const std::int32_t> predictions, std::span<const std::int32_t> labels) {
  require(predictions.size() == labels.size(), "as many predictions as labels");
  if (positions_.size() < labels.size()) positions_.resize(labels.size());
  Share example;
  for (std::size_t t = 0; t < labels.size(); ++t) {
    if (labels[t] == kUnlabelled) continue;
    const bool right = predictions[t] == labels[t];
    example.count(right);
    positions_[t].count(right);
  }
  if (example.of == 0) return;
  tokens_.right += example.right;
  tokens_.of += example.of;
  examples_.count(example.right == example.of);
  example_shares_ += example.value();
}

double TokenScore::example_accuracy() const {
  return examples_.of == 0 ? 0.0 : example_shares_ / static_cast<double>(examples_.of);
}

void DistanceScore::add(std::span<const std::int32_t> predictions, std::span<const std::int32_t> labels,
                        std::span<const std::int32_t> sources) {
  require(predictions.size() == labels.size() && sources.size() == labels.size(), "as many predictions as labels");
  for (std::size_t t = 0; t < labels.size(); ++t) {
    if (labels[t] == kUnlabelled || sources[t] < 0) continue;
    const std::size_t distance = t - static_cast<std::size_t>(sources[t]);
    const auto exponent = static_cast<std::size_t>(std::bit_width(std::max<std::size_t>(distance, 1)) - 1);
    if (by_exponent_.size() <= exponent) by_exponent_.resize(exponent + 1);
    by_exponent_[exponent].count(predictions[t] == labels[t]);
  }
}

std::vector<DistanceScore::Bin> DistanceScore::bins() const {
  std::vector<Bin> bins;
  for (std::size_t exponent = 0; exponent < by_exponent_.size(); ++exponent)
    if (by_exponent_[exponent].of > 0)
      bins.push_back(
          {exponent == 0 ? 0 : std::int64_t{1} << exponent, std::int64_t{2} << exponent, by_exponent_[exponent]});
  return bins;
}

void StringScore::add(std::span<const std::int32_t> predictions, std::span<const std::int32_t> labels) {
  require(predictions.size() == labels.size(), "as many predictions as labels");
  bool all_right = true;
  for (std::size_t t = 0; t < labels.size(); ++t) {
    if (labels[t] == kUnlabelled) continue;
    if (labels[t] == stop_) {
      strings_.count(all_right);
      all_right = true;
      continue;
    }
    const bool right = predictions[t] == labels[t];
    characters_.count(right);
    all_right = all_right && right;
  }
}

std::int64_t reached_length(std::vector<LengthScore> scores, double threshold) {
  std::sort(scores.begin(), scores.end(),
            [](const LengthScore& a, const LengthScore& b) { return a.length < b.length; });
  std::int64_t reached = 0;
  for (const LengthScore& score : scores) {
    if (!(score.accuracy > threshold)) break;
    reached = score.length;
  }
  return reached;
}

bool enough_seeds(std::int64_t passed, std::int64_t seeds) { return seeds > 0 && 5 * passed >= 3 * seeds; }

}  // namespace mneme::tasks
