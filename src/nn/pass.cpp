#include "nn/pass.h"

#include "core/error.h"
#include "core/random.h"
#include "kernels/dense/dropout.h"

namespace mneme::nn {

Pass Pass::training(std::uint64_t dropout_key, std::uint64_t step, std::uint64_t micro_batch) {
  Pass pass;
  pass.training_ = true;
  // The micro-batch goes into the key, which leaves the low bits of the item for the sites of a step.
  pass.key_ = stream_key(dropout_key, "dropout") + micro_batch;
  pass.item_ = step << 16;
  return pass;
}

torch::Tensor Pass::dropout(const torch::Tensor& x, double p) {
  if (!training_ || p == 0.0) return x;
  torch::Tensor mask = torch::empty(x.sizes(), torch::kFloat32);
  kernels::dropout_mask(key_, item_++, p, mask.data_ptr<float>(), static_cast<std::size_t>(mask.numel()));
  return x * mask.to(x.options());
}

torch::Tensor Pass::integers(std::int64_t count, std::int64_t largest) {
  torch::Tensor values = torch::zeros({count}, torch::kInt64);
  if (!training_) return values;
  Random random(key_, item_++);
  std::int64_t* out = values.data_ptr<std::int64_t>();
  for (std::int64_t i = 0; i < count; ++i)
    out[i] = static_cast<std::int64_t>(random.below64(static_cast<std::uint64_t>(largest) + 1));
  return values;
}

std::uint64_t Pass::seed() { return training_ ? Random(key_, item_++).bits64() : 0; }

}  // namespace mneme::nn
