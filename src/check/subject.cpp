#include "check/subject.h"

#include <algorithm>
#include <cmath>

#include "core/config.h"
#include "core/error.h"
#include "core/random.h"
#include "mixers/python_bridge.h"

namespace mneme::check {

mixers::MixerPointer Subject::make(std::int64_t length) const {
  mixers::MixerPointer mixer = build(context(length), options);
  std::uint64_t seed = 1;
  for (auto& parameter : mixer->parameters()) {
    // A matrix gets the same gain at every width: a larger one would make recurrent mixers explode and
    // their rounding errors with them.
    const double deviation =
        parameter.dim() < 2 ? 0.3 : 0.3 * std::min(1.0, std::sqrt(8.0 / static_cast<double>(parameter.size(-1))));
    parameter.data().copy_(deviation * sample(parameter.sizes(), seed++));
  }
  return mixer;
}

Subject Subject::of_list(const std::string& name, const Json& options, std::int64_t width) {
  const auto find = [&]() -> const catalog::MixerEntry& {
    for (const catalog::MixerEntry& entry : catalog::state_mixer_catalog())
      if (entry.name == name) return entry;
    return catalog::find_mixer(name, "mixer");
  };
  const catalog::MixerEntry& entry = find();
  // That Python cannot be loaded is no finding about the mixer.
  if (entry.python) mixers::python_bridge();
  const ConfigValue table = config_from_json(options, "options of the check");
  const auto build = [&entry](const catalog::MixerContext& context, const Options& resolved) {
    return mixers::build_mixer(entry, context, resolved);
  };
  Subject subject{&entry, resolve(entry.options, &table, entry.name), width, build};
  entry.validate(subject.context(1), subject.options);
  // A constructor that fails is one error, not one per check.
  if (entry.python) subject.make(64);
  return subject;
}

torch::Tensor evaluate(mixers::Mixer& mixer, const torch::Tensor& x) {
  nn::Pass pass = nn::Pass::evaluation();
  return mixer.forward(x, pass);
}

torch::Tensor evaluate_with_gradient(mixers::Mixer& mixer, const torch::Tensor& x) {
  torch::Tensor y = evaluate(mixer, x);
  if (!y.requires_grad())
    throw Error(ErrorKind::mismatch, mixer.name_in_catalog,
                "the output of forward has no gradient, expected one; is there a detach(), item(), numpy() or "
                "torch.no_grad() on the way?");
  return y;
}

double largest(const torch::Tensor& tensor) { return tensor.numel() == 0 ? 0.0 : tensor.abs().max().item<double>(); }

torch::Tensor sample(at::IntArrayRef shape, std::uint64_t seed, torch::Dtype dtype) {
  torch::Tensor result = torch::empty(shape, torch::kFloat64);
  Random random(seed, 0);
  for (std::int64_t i = 0; i < result.numel(); ++i) result.data_ptr<double>()[i] = random.normal();
  return result.to(dtype);
}

}  // namespace mneme::check
