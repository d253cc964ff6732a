#include "mixers/mixer.h"

#include "core/error.h"

namespace mneme::mixers {

std::int64_t MixerState::size() const {
  std::int64_t floats = 0;
  for (const torch::Tensor& tensor : tensors) floats += tensor.numel() / tensor.size(0);
  return floats;
}

torch::Tensor Mixer::forward_at(const torch::Tensor& x, const torch::Tensor& positions, nn::Pass& pass) {
  return ops::select_positions(forward(x, pass), positions);
}

MixerState Mixer::initial_state(std::int64_t) const {
  require(false, "this mixer has no recurrent form");
  return {};
}

torch::Tensor Mixer::step(MixerState&, const torch::Tensor&) {
  require(false, "this mixer has no recurrent form");
  return {};
}

}  // namespace mneme::mixers
