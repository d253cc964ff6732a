#include "models/initialise.h"

#include <cmath>

#include "core/error.h"

namespace mneme {
namespace {

constexpr double kDeviation = 0.02;

void initialise_linear(torch::nn::LinearImpl& linear, bool zoology, const std::string& prefix, const Draw& draw) {
  if (zoology) {
    draw.normal(linear.weight, prefix + "weight", kDeviation);
    if (linear.bias.defined()) draw.constant(linear.bias, 0.0);
    return;
  }
  const double bound = 1.0 / std::sqrt(static_cast<double>(linear.weight.size(1)));
  draw.uniform(linear.weight, prefix + "weight", bound);
  if (linear.bias.defined()) draw.uniform(linear.bias, prefix + "bias", bound);
}

}  // namespace

void initialise(torch::nn::Module& model, std::string_view scheme, std::int64_t layers, const Draw& draw) {
  const bool zoology = scheme == "zoology";
  check(zoology || scheme == "torch", "an initialisation scheme of the schema");
  for (const auto& item : model.named_modules("", false)) {
    const std::string prefix = item.key().empty() ? "" : item.key() + ".";
    torch::nn::Module* module = item.value().get();
    if (auto* own = dynamic_cast<SelfInitialised*>(module)) {
      own->initialise(draw, prefix);
    } else if (auto* linear = module->as<torch::nn::Linear>()) {
      initialise_linear(*linear, zoology, prefix, draw);
    } else if (auto* embedding = module->as<torch::nn::Embedding>()) {
      draw.normal(embedding->weight, prefix + "weight", zoology ? kDeviation : 1.0);
    }
  }
  if (!zoology) return;
  const double scaled = kDeviation / std::sqrt(2.0 * static_cast<double>(layers));
  for (const auto& item : model.named_parameters()) {
    const std::string& name = item.key();
    if (name.find("out_proj.weight") != name.npos || name.find("fc2.weight") != name.npos)
      draw.normal(item.value(), name, scaled);
  }
}

}  // namespace mneme
