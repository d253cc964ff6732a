// Examples of a task as tensors, with the list of labelled positions.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ops/torch.h"
#include "tasks/task.h"

namespace mneme::train {

// A batch in which only the labelled positions matter for the loss.
struct Batch {
  torch::Tensor tokens;                // [B, L] int32
  std::vector<std::int64_t> labelled;  // flattened positions b * L + t, ascending
  std::vector<std::int32_t> answers;   // the label at each labelled position
  std::vector<std::int32_t> sequence;  // the number b of each labelled position's sequence

  std::int64_t sequences() const { return tokens.size(0); }
  std::int64_t length() const { return tokens.size(1); }
};

// Generates the examples with these indices.
Batch make_batch(const tasks::ExampleSource& source, const tasks::TaskShape& shape,
                 std::span<const std::uint64_t> indices);

// Which examples step s trains on: always fresh ones (examples = 0), or 0..examples-1 in an order that
// is a function of (order seed, epoch). The last batch of an epoch may be smaller.
class ExampleOrder {
 public:
  ExampleOrder(std::int64_t examples, std::int64_t batch, std::uint64_t order_seed);
  std::vector<std::uint64_t> indices(std::int64_t step);

 private:
  std::int64_t examples_, batch_;
  std::uint64_t key_;
  std::int64_t epoch_ = -1;
  std::vector<std::uint32_t> order_;
};

}  // namespace mneme::train
