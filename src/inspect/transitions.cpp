#include "inspect/transitions.h"

#include <fmt/format.h>

#include <algorithm>

#include "mixers/mixer.h"
#include "ops/path.h"

namespace mneme::inspect {
namespace {

using torch::Tensor;

// Larger blocks would need as many rows in a batch, and a matrix of that size a token.
constexpr std::int64_t kLargestBlock = 512;
// Matrices of a mixer a token: lanes beyond are left out, evenly. Complex poles, blocks of two, are all looked at.
constexpr std::int64_t kMostMatrices = 4, kMostPairs = 4096;

// One mixer's place in the state of the model.
class Block {
 public:
  Block(const mixers::Mixer& mixer, const mixers::MixerState& state) : recurrence_(mixer.recurrence()) {
    for (std::size_t i = 0; recurrence_.tensors.empty() && i < state.tensors.size(); ++i) all_.push_back(i);
    if (recurrence_.tensors.size() == 1) all_ = recurrence_.tensors;
    for (const std::size_t i : all_) {
      const Tensor& tensor = state.tensors[i];
      if (tensor.numel() == 0) trouble = "its state grows with the sequence: nothing is carried over";
      size_ += tensor.numel() / std::max<std::int64_t>(tensor.size(0), 1);
    }
    if (all_.empty()) trouble = "it has no state";
    if (!trouble.empty()) return;
    if (!is_whole()) {
      const Tensor& tensor = state.tensors[all_.front()];
      size_ = 1;
      for (const std::int64_t d : recurrence_.coupled) size_ *= tensor.size(d);
      order_ = {0};
      for (std::int64_t d = 1; d < tensor.dim(); ++d)
        if (!is_coupled(d)) order_.push_back(d);
      order_.insert(order_.end(), recurrence_.coupled.begin(), recurrence_.coupled.end());
    }
    if (size_ > kLargestBlock)
      trouble = fmt::format("{} floats of its state act on each other, more than {}", size_, kLargestBlock);
  }

  std::int64_t size() const { return size_; }
  std::string trouble;

  // Makes leaves of what it watches.
  void begin(mixers::MixerState& state) {
    leaves_.clear();
    before_ = scale(state);
    for (const std::size_t i : all_)
      leaves_.push_back(state.tensors[i] = state.tensors[i].detach().clone().requires_grad_(true));
  }

  // [lanes, n, n] after the step.
  Tensor end(const mixers::MixerState& state) const {
    std::vector<Tensor> now;
    for (const std::size_t i : all_) now.push_back(state.tensors[i]);
    const Tensor out = lanes_of(now);  // [R, lanes, n]
    if (!out.requires_grad()) return torch::zeros({out.size(1), size_, size_}, out.options());
    Tensor along = torch::zeros_like(out);
    for (std::int64_t j = 0; j < size_; ++j) along.select(0, j).select(1, j).fill_(1.0);
    auto gradients = torch::autograd::grad({out}, leaves_, {along}, false, false, true);
    for (std::size_t i = 0; i < gradients.size(); ++i)
      if (!gradients[i].defined()) gradients[i] = torch::zeros_like(leaves_[i]);
    const Tensor A = lanes_of(gradients).narrow(0, 0, size_).transpose(0, 1);  // [lanes, n, n]
    if (!before_.defined()) return A.contiguous();
    // What is kept is scaled by exp(-exponent): undo it.
    return A * torch::exp(scale(state) - before_).flatten().view({-1, 1, 1});
  }

 private:
  bool is_whole() const { return recurrence_.tensors.empty(); }
  bool is_coupled(std::int64_t d) const {
    return std::find(recurrence_.coupled.begin(), recurrence_.coupled.end(), d) != recurrence_.coupled.end();
  }

  Tensor scale(const mixers::MixerState& state) const {
    if (recurrence_.exponent < 0) return {};
    return state.tensors[static_cast<std::size_t>(recurrence_.exponent)].detach().narrow(0, 0, 1);
  }

  // [R, lanes, n]
  Tensor lanes_of(const std::vector<Tensor>& tensors) const {
    const std::int64_t R = tensors.front().size(0);
    if (!is_whole()) return tensors.front().permute(order_).reshape({R, -1, size_});
    std::vector<Tensor> flat;
    for (const Tensor& tensor : tensors) flat.push_back(tensor.reshape({R, -1}));
    return torch::cat(flat, 1).unsqueeze(1);
  }

  mixers::Recurrence recurrence_;
  std::vector<std::size_t> all_;
  std::vector<std::int64_t> order_;
  std::int64_t size_ = 0;
  std::vector<Tensor> leaves_;
  Tensor before_;
};

Tensor some_lanes(const Tensor& A) {
  const std::int64_t lanes = A.size(0);
  const std::int64_t most = A.size(1) == 2 ? kMostPairs : kMostMatrices;
  if (A.size(1) == 1 || lanes <= most) return A;
  std::vector<std::int64_t> chosen;
  for (std::int64_t i = 0; i < most; ++i) chosen.push_back(i * lanes / most);
  return A.index_select(0, torch::tensor(chosen));
}

}  // namespace

std::vector<Transitions> transitions(const Subject& subject, const Tensor& input, std::int64_t tokens) {
  const ops::ScopedComposed composed;
  models::SequenceModel& model = subject.model();
  std::vector<const mixers::Mixer*> mixers;  // in the order of the states
  for (const models::LayerMixer& each : model.mixers()) mixers.push_back(each.mixer);
  std::vector<Transitions> result;
  if (!model.has_step()) {
    for (const mixers::Mixer* mixer : mixers)
      if (!mixer->is_pointwise())
        result.push_back({subject.name_of(*mixer),
                          mixer->name_in_catalog,
                          subject.layer_of(*mixer),
                          "a mixer of this model has no recurrent form",
                          0,
                          {}});
    return result;
  }
  const models::ModelState one = model.initial_state(1);
  std::vector<std::pair<std::size_t, Block>> blocks;  // place in the state
  std::vector<std::size_t> place_in_result;
  std::int64_t rows = 1;
  for (std::size_t k = 0; k < mixers.size(); ++k) {
    if (mixers[k]->is_pointwise()) continue;
    const Block block(*mixers[k], one.mixers[k]);
    result.push_back(
        {subject.name_of(*mixers[k]), mixers[k]->name_in_catalog, subject.layer_of(*mixers[k]), block.trouble, 0, {}});
    if (!block.trouble.empty()) continue;
    rows = std::max(rows, block.size());
    blocks.emplace_back(k, block);
    place_in_result.push_back(result.size() - 1);
  }
  if (blocks.empty()) return result;
  models::ModelState state = model.initial_state(rows);
  std::vector<std::vector<Tensor>> found(blocks.size());
  for (std::int64_t t = 0; t < std::min(tokens, input.size(1)); ++t) {
    for (mixers::MixerState& each : state.mixers)
      for (Tensor& tensor : each.tensors) tensor = tensor.detach();
    for (auto& [k, block] : blocks) block.begin(state.mixers[k]);
    model.step(state, input.select(1, t).expand({rows}).contiguous());
    for (std::size_t b = 0; b < blocks.size(); ++b) {
      const Tensor A = blocks[b].second.end(state.mixers[blocks[b].first]).detach();
      result[place_in_result[b]].lanes = A.size(0);
      // What nothing was kept in yet has no scale.
      if (A.isfinite().all().item<bool>()) found[b].push_back(some_lanes(A));
    }
  }
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    if (found[b].empty())
      result[place_in_result[b]].left_out = "its transitions are not finite";
    else
      result[place_in_result[b]].A = torch::stack(found[b]);
  }
  return result;
}

}  // namespace mneme::inspect
