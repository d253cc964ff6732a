#include "mixers/python_mixer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "catalog/python_store.h"
#include "core/error.h"
#include "core/text.h"

namespace mneme::mixers {
namespace {

PythonCall call_of(const catalog::MixerEntry& entry, const catalog::MixerContext& context, const Options& options) {
  const catalog::PythonClass& python = *entry.python;
  if (python.folder.empty())
    throw Error(ErrorKind::data, entry.name,
                fmt::format("the version {} of its source is not on this machine, expected it in {} or in the run's "
                            "directory; plan the study again to train the file as it is now",
                            python.source, catalog::python_store().string()));
  return {python.folder.string(), python.name.file.filename().string(),
          python.name.class_name, python.arguments(options).dump(),
          context.width,          context.length,
          context.layer};
}

// Names of Python's parameters have dots, libtorch's modules have levels.
class Level : public torch::nn::Module {};

torch::nn::Module& level_of(torch::nn::Module& root, const std::vector<std::string>& parts) {
  torch::nn::Module* at = &root;
  for (std::size_t i = 0; i + 1 < parts.size(); ++i) {
    const auto children = at->named_children();
    const auto* known = children.find(parts[i]);
    at = known ? known->get() : at->register_module(parts[i], std::make_shared<Level>()).get();
  }
  return *at;
}

void require_trainable(const PythonTensor& tensor, const std::string& mixer) {
  if (tensor.value.scalar_type() == torch::kFloat32) return;
  const char* hint = tensor.value.is_complex() ? "; it can be kept as torch.view_as_real of itself" : "";
  throw Error(ErrorKind::usage, mixer,
              fmt::format("parameter '{}' is of type {}, expected Float (torch.float32){}", tensor.name,
                          c10::toString(tensor.value.scalar_type()), hint));
}

std::string shown(at::IntArrayRef sizes) { return fmt::format("[{}]", fmt::join(sizes.begin(), sizes.end(), ", ")); }

}  // namespace

PythonMixer::PythonMixer(const catalog::MixerEntry& entry, const catalog::MixerContext& context, const Options& options)
    : name_(entry.name),
      call_(call_of(entry, context, options)),
      by_model_(catalog::PythonClass::is_initialised_by_model(options)),
      module_(python_bridge().build(call_, 0)) {
  for (const PythonTensor& parameter : module_->parameters()) {
    require_trainable(parameter, name_);
    const auto parts = split(parameter.name, '.');
    level_of(*this, parts).register_parameter(parts.back(), parameter.value);
  }
  for (const PythonTensor& buffer : module_->buffers()) {
    const auto parts = split(buffer.name, '.');
    level_of(*this, parts).register_buffer(parts.back(), buffer.value);
  }
}

void PythonMixer::require_like(const torch::Tensor& y, const torch::Tensor& x, const char* method) const {
  const auto refuse = [&](const char* what, const std::string& found, const std::string& expected) {
    throw Error(ErrorKind::runs_failed, name_,
                fmt::format("{} returned a tensor of {} {}, expected {}: the {} of its input", method, what, found,
                            expected, what));
  };
  if (y.sizes() != x.sizes()) refuse("shape", shown(y.sizes()), shown(x.sizes()));
  if (y.scalar_type() != x.scalar_type())
    refuse("type", c10::toString(y.scalar_type()), c10::toString(x.scalar_type()));
  if (y.device() != x.device()) refuse("device", y.device().str(), x.device().str());
}

void PythonMixer::require_unchanged(const torch::Tensor& x, std::int64_t version, const char* method) const {
  if (x._version() == version) return;
  throw Error(ErrorKind::runs_failed, name_,
              fmt::format("{} changed its input in place, expected it to make a new tensor: x = 2 * x instead of "
                          "x.mul_(2) or x *= 2",
                          method));
}

torch::Tensor PythonMixer::forward(const torch::Tensor& x, nn::Pass& pass) {
  const std::int64_t version = x._version();
  torch::Tensor y = module_->forward(x, pass.is_training(), pass.seed());
  require_unchanged(x, version, "forward");
  require_like(y, x, "forward");
  return y;
}

MixerState PythonMixer::initial_state(std::int64_t batch) const { return {module_->initial_state(batch)}; }

torch::Tensor PythonMixer::step(MixerState& state, const torch::Tensor& x) {
  const std::int64_t version = x._version();
  torch::Tensor y = module_->step(state.tensors, x);
  require_unchanged(x, version, "step");
  require_like(y, x, "step");
  return y;
}

void PythonMixer::initialise(const nn::Draw& draw, const std::string& prefix) {
  const torch::NoGradGuard guard;
  const auto drawn = python_bridge().build(call_, draw.seed(prefix));
  const auto copy = [](const std::vector<PythonTensor>& from, const std::vector<PythonTensor>& to) {
    require(from.size() == to.size(), "a class has the same tensors each time it is built");
    for (std::size_t i = 0; i < from.size(); ++i) {
      torch::Tensor place = to[i].value;
      place.copy_(from[i].value);
    }
  };
  copy(drawn->parameters(), module_->parameters());
  copy(drawn->buffers(), module_->buffers());
}

std::vector<nn::NamedLinear> PythonMixer::linears() const {
  std::vector<nn::NamedLinear> found;
  for (const PythonTensor& parameter : module_->parameters()) {
    if (!parameter.of_linear) continue;
    const bool is_weight = parameter.value.dim() == 2;
    if (is_weight) found.push_back({parameter.name.substr(0, parameter.name.rfind('.') + 1), parameter.value, {}});
    // A layer's bias follows its weight.
    if (!is_weight && !found.empty()) found.back().bias = parameter.value;
  }
  return found;
}

MixerPointer build_python_mixer(const catalog::MixerEntry& entry, const catalog::MixerContext& context,
                                const Options& options) {
  return std::make_shared<PythonMixer>(entry, context, options);
}

}  // namespace mneme::mixers
