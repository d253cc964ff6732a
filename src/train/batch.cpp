#include "train/batch.h"

#include <algorithm>

#include "core/error.h"
#include "ops/profile.h"

namespace mneme::train {

Batch make_batch(const tasks::ExampleSource& source, const tasks::TaskShape& shape,
                 std::span<const std::uint64_t> indices) {
  require(!shape.is_signal(), "a token task");
  const ops::Part part("data");
  const auto length = static_cast<std::size_t>(shape.length);
  Batch batch;
  batch.tokens = torch::empty({static_cast<std::int64_t>(indices.size()), shape.length}, torch::kInt32);
  auto* tokens = batch.tokens.data_ptr<std::int32_t>();
  std::vector<std::int32_t> labels(length);
  for (std::size_t b = 0; b < indices.size(); ++b) {
    source.write(indices[b], {.tokens = {tokens + b * length, length}, .labels = labels, .signal = {}, .targets = {}});
    for (std::size_t t = 0; t < length; ++t) {
      if (labels[t] == tasks::kUnlabelled) continue;
      batch.labelled.push_back(static_cast<std::int64_t>(b * length + t));
      batch.answers.push_back(labels[t]);
      batch.sequence.push_back(static_cast<std::int32_t>(b));
    }
  }
  return batch;
}

ExampleOrder::ExampleOrder(std::int64_t examples, std::int64_t batch, std::uint64_t order_seed)
    : examples_(examples), batch_(batch), key_(stream_key(order_seed, "order")) {}

std::vector<std::uint64_t> ExampleOrder::indices(std::int64_t step) {
  const ops::Part part("data");
  std::vector<std::uint64_t> result;
  if (examples_ == 0) {
    for (std::int64_t i = 0; i < batch_; ++i) result.push_back(static_cast<std::uint64_t>(step * batch_ + i));
    return result;
  }
  const std::int64_t per_epoch = (examples_ + batch_ - 1) / batch_;
  if (const std::int64_t epoch = step / per_epoch; epoch != epoch_) {
    order_.resize(static_cast<std::size_t>(examples_));
    shuffled(order_, key_, static_cast<std::uint64_t>(epoch));
    epoch_ = epoch;
  }
  const std::int64_t first = step % per_epoch * batch_;
  for (std::int64_t i = first; i < std::min(first + batch_, examples_); ++i)
    result.push_back(order_[static_cast<std::size_t>(i)]);
  return result;
}

}  // namespace mneme::train
