// What a model holds and does, reckoned without building it.
#include "config/run_config.h"

namespace mneme::config {
namespace {

std::int64_t norm_parameters(const std::string& norm, std::int64_t D) {
  return norm == "layernorm" ? 2 * D : norm == "rmsnorm" ? D : 0;
}

std::int64_t input_parameters(const RunConfig& run) {
  const std::int64_t E = run.model.integer("embed_width"), channels = run.shape.is_signal() ? 1 : run.shape.vocab;
  const std::string input = run.model.text("input");
  const std::int64_t map = input == "embedding" ? channels * E : input == "linear" ? (channels + 1) * E : 0;
  return map + run.model.integer("max_positions") * E;
}

std::int64_t head_parameters(const RunConfig& run) {
  const bool tied = run.model.flag("tied");
  const std::int64_t outputs = run.shape.is_signal() ? 1 : tied ? run.shape.vocab : run.shape.classes;
  return (tied ? 0 : outputs * run.model.integer("width")) + (run.model.flag("head_bias") ? outputs : 0);
}

// The norms of one layer: one per mixer, and their kind.
std::int64_t layer_norm_parameters(const RunConfig& run) {
  const std::string block = run.model.text("block");
  if (block == "plain") return 0;
  const std::int64_t norms = run.state_mixer ? 2 : 1;
  return norms * norm_parameters(block == "mamba" ? "rmsnorm" : "layernorm", run.model.integer("width"));
}

// In the last layer only labelled positions matter, to a state mixer that treats each alone and then to the sequence
// mixer.
bool only_labels_matter(const RunConfig& run, std::int64_t layer) {
  const bool last = layer + 1 == run.model.integer("layers");
  const bool alone = !run.state_mixer || !run.state_mixer.entry->knows_order(run.state_mixer.options);
  return last && alone && !run.shape.is_signal();
}

double mixer_flops(const RunConfig& run, std::int64_t layer) {
  const MixerConfig& mixer = run.mixer(layer);
  const double flops = mixer.entry->flops(run.context(layer), mixer.options);
  if (!only_labels_matter(run, layer) || !mixer.entry->output_flops) return flops;
  const double unlabelled = static_cast<double>(run.shape.length) - run.shape.labelled;
  return flops - unlabelled * mixer.entry->output_flops(run.context(layer), mixer.options);
}

double state_mixer_flops(const RunConfig& run, std::int64_t layer) {
  const double flops = run.state_mixer.entry->flops(run.state_context(layer), run.state_mixer.options);
  return only_labels_matter(run, layer) ? flops * run.shape.labelled / static_cast<double>(run.shape.length) : flops;
}

}  // namespace

const MixerConfig& RunConfig::mixer(std::int64_t layer) const {
  return mixers[static_cast<std::size_t>(layer) % mixers.size()];
}

catalog::MixerContext RunConfig::context(std::int64_t layer) const {
  std::int64_t earlier = 0;
  for (std::int64_t below = 0; below < layer; ++below) earlier += mixer(below).entry == mixer(layer).entry ? 1 : 0;
  return {model.integer(layer == 0 ? "embed_width" : "width"), shape.length, layer, model.integer("layers"), earlier};
}

catalog::MixerContext RunConfig::state_context(std::int64_t layer) const {
  return {model.integer("width"), shape.length, layer, model.integer("layers"), layer};
}

std::int64_t RunConfig::parameters() const {
  std::int64_t total = input_parameters(*this) + head_parameters(*this) +
                       norm_parameters(model.text("final_norm"), model.integer("width"));
  for (std::int64_t layer = 0; layer < model.integer("layers"); ++layer) {
    total += mixer(layer).entry->parameters(context(layer), mixer(layer).options) + layer_norm_parameters(*this);
    if (state_mixer) total += state_mixer.entry->parameters(state_context(layer), state_mixer.options);
  }
  return total;
}

std::int64_t RunConfig::state() const {
  std::int64_t total = 0;
  for (std::int64_t layer = 0; layer < model.integer("layers"); ++layer) {
    total += mixer(layer).entry->state(context(layer), mixer(layer).options);
    if (state_mixer) total += state_mixer.entry->state(state_context(layer), state_mixer.options);
  }
  return total;
}

std::map<std::string, double> RunConfig::forward_flops_by_part() const {
  const auto outputs = static_cast<double>(shape.is_signal() ? 1 : shape.classes);
  std::map<std::string, double> parts = {
      {"head", 2.0 * shape.labelled * static_cast<double>(model.integer("width")) * outputs}};
  for (std::int64_t layer = 0; layer < model.integer("layers"); ++layer) {
    parts[mixer(layer).entry->name] += mixer_flops(*this, layer);
    if (state_mixer) parts[state_mixer.entry->name] += state_mixer_flops(*this, layer);
  }
  return parts;
}

double RunConfig::forward_flops_per_example() const {
  double total = 0;
  for (const auto& [part, flops] : forward_flops_by_part()) total += flops;
  return total;
}

double RunConfig::training_flops() const {
  // Backward is twice the work of forward.
  return 3.0 * forward_flops_per_example() * static_cast<double>(train.integer("batch")) *
         static_cast<double>(train.integer("steps"));
}

}  // namespace mneme::config
