#include "models/initialise.h"

#include <cmath>

#include "core/error.h"
#include "nn/own_linears.h"

namespace mneme::models {
namespace {

constexpr double kDeviation = 0.02;

struct Scheme {
  std::string_view name;
  bool normal_weights;  // else torch's uniform ones
  bool zero_biases;
  double embedding;  // deviation
};
constexpr Scheme kSchemes[] = {
    {"zoology", true, true, kDeviation}, {"neox", true, true, kDeviation},  {"torch", false, false, 1.0},
    {"mamba", false, true, kDeviation},  {"own", false, false, kDeviation},
};

const Scheme& scheme_of(const std::string& name) {
  for (const Scheme& scheme : kSchemes)
    if (scheme.name == name) return scheme;
  throw Error(ErrorKind::internal, "initialise.cpp", "an initialisation of the schema without a rule: " + name);
}

// The bound of torch's default for a matrix [out, in].
double torch_bound(const torch::Tensor& weight) { return 1.0 / std::sqrt(static_cast<double>(weight.size(1))); }

void initialise_linear(const nn::NamedLinear& linear, const Scheme& scheme, const nn::Draw& draw) {
  const double bound = torch_bound(linear.weight);
  if (scheme.normal_weights)
    draw.normal(linear.weight, linear.prefix + "weight", kDeviation);
  else
    draw.uniform(linear.weight, linear.prefix + "weight", bound);
  if (!linear.bias.defined()) return;
  if (scheme.zero_biases)
    draw.constant(linear.bias, 0.0);
  else
    draw.uniform(linear.bias, linear.prefix + "bias", bound);
}

// Linear layers inside a module of another language, if it leaves them to the model.
void initialise_foreign_linears(torch::nn::Module& model, const Scheme& scheme, const nn::Draw& draw) {
  for (const auto& item : model.named_modules("", false)) {
    const auto* foreign = dynamic_cast<const nn::ModuleInitialised*>(item.value().get());
    if (!foreign || !foreign->is_initialised_by_model()) continue;
    for (nn::NamedLinear linear : foreign->linears()) {
      linear.prefix = item.key() + "." + linear.prefix;
      initialise_linear(linear, scheme, draw);
    }
  }
}

// True of parameters that a module has drawn with its own generator, and that no scheme may touch.
bool is_drawn_by_its_module(const torch::nn::Module& model, const std::string& parameter) {
  for (const auto& item : model.named_modules("", false)) {
    const auto* own = dynamic_cast<const nn::ModuleInitialised*>(item.value().get());
    if (own && !own->is_initialised_by_model() && parameter.starts_with(item.key() + ".")) return true;
  }
  return false;
}

// Smaller, so that the residual stream does not grow with the number of layers.
void initialise_outputs(torch::nn::Module& model, const InitialisationRule& rule, const nn::Draw& draw) {
  const auto layers = static_cast<double>(rule.layers), branches = static_cast<double>(rule.branches);
  for (const auto& item : model.named_parameters()) {
    const std::string& name = item.key();
    if (name.find("out_proj.weight") == name.npos && name.find("fc2.weight") == name.npos) continue;
    if (is_drawn_by_its_module(model, name)) continue;
    if (rule.scheme == "zoology")
      draw.normal(item.value(), name, kDeviation / std::sqrt(2.0 * layers));
    else
      draw.uniform(item.value(), name, torch_bound(item.value()) / std::sqrt(branches * layers));
  }
}

}  // namespace

void initialise(torch::nn::Module& model, const config::RunConfig& run, const nn::Draw& draw) {
  const bool feeds = run.state_mixer && run.state_mixer.entry->name != "identity";
  initialise(model, {run.model.text("init"), run.model.integer("layers"), feeds ? 2 : 1}, draw);
}

void initialise(torch::nn::Module& model, const InitialisationRule& rule, const nn::Draw& draw) {
  const Scheme& scheme = scheme_of(rule.scheme);
  for (const auto& item : model.named_modules("", false)) {
    const std::string prefix = item.key().empty() ? "" : item.key() + ".";
    torch::nn::Module* module = item.value().get();
    if (auto* own = dynamic_cast<nn::SelfInitialised*>(module))
      own->initialise(draw, prefix);
    else if (auto* linear = module->as<torch::nn::Linear>())
      initialise_linear({prefix, linear->weight, linear->bias}, scheme, draw);
    else if (auto* embedding = module->as<torch::nn::Embedding>())
      draw.normal(embedding->weight, prefix + "weight", scheme.embedding);
  }
  initialise_foreign_linears(model, scheme, draw);
  if (scheme.name == "own")
    for (const auto& item : model.named_modules("", false))
      if (auto* owner = dynamic_cast<nn::OwnLinears*>(item.value().get()))
        owner->initialise_linears(draw, item.key() + ".");
  if (scheme.name == "zoology" || scheme.name == "mamba") initialise_outputs(model, rule, draw);
}

}  // namespace mneme::models
