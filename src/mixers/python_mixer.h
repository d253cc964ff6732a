// A mixer whose module is a user's torch.nn.Module in Python.
#pragma once

#include "mixers/mixer.h"
#include "mixers/python_bridge.h"

namespace mneme::mixers {

// The module's parameters are registered here under their own names and are the very tensors that Python computes with:
// a trainer that moves them into a flat buffer moves them for Python too.
class PythonMixer : public Mixer, public nn::ModuleInitialised {
 public:
  PythonMixer(const catalog::MixerEntry& entry, const catalog::MixerContext& context, const Options& options);

  torch::Tensor forward(const torch::Tensor& x, nn::Pass& pass) override;
  bool has_step() const override { return module_->has_step(); }
  MixerState initial_state(std::int64_t batch) const override;
  torch::Tensor step(MixerState& state, const torch::Tensor& x) override;
  std::optional<std::int64_t> state_size(std::int64_t length) const { return module_->state_size(length); }

  // As the constructor draws them, from a seed that is the run's and this place's.
  void initialise(const nn::Draw& draw, const std::string& prefix) override;
  bool is_initialised_by_model() const override { return by_model_; }
  std::vector<nn::NamedLinear> linears() const override;

 private:
  // What a method returned has shape, type and device of its input.
  void require_like(const torch::Tensor& y, const torch::Tensor& x, const char* method) const;
  // The input is others' too: it must still be the version that it was.
  void require_unchanged(const torch::Tensor& x, std::int64_t version, const char* method) const;

  std::string name_;
  PythonCall call_;
  bool by_model_;
  std::unique_ptr<PythonModule> module_;
};

MixerPointer build_python_mixer(const catalog::MixerEntry& entry, const catalog::MixerContext& context,
                                const Options& options);

}  // namespace mneme::mixers
