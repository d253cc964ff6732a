#include "mixers/list.h"

#include <fmt/format.h>

#include "core/error.h"
#include "mixers/python_mixer.h"

namespace mneme::mixers {
namespace {

struct Builder {
  const char* name;
  Build* build;
};

// The one list that joins torch modules to the catalog.
constexpr Builder kBuilders[] = {
    {"attention", build_attention},
    {"transformer", build_transformer},
    {"based", build_based},
    {"base_conv", build_base_conv},
    {"linear_attention", build_linear_attention},
    {"retnet", build_retnet},
    {"gla", build_gla},
    {"deltanet", build_deltanet},
    {"gated_deltanet", build_gated_deltanet},
    {"deltaproduct", build_deltaproduct},
    {"rwkv4", build_rwkv4},
    {"rwkv5", build_rwkv5},
    {"rwkv7", build_rwkv7},
    {"hyena", build_hyena},
    {"mamba", build_mamba},
    {"s6", build_mamba},
    {"mamba2", build_mamba2},
    {"s4", build_s4},
    {"s4d", build_s4d},
    {"ids4", build_ids4},
    {"h3", build_h3},
    {"ema", build_ema},
    {"rnn", build_rnn},
    {"lstm", build_lstm},
    {"gru", build_gru},
    {"nru", build_nru},
    {"mlp", build_mlp},
    {"glu", build_glu},
    {"identity", build_identity},
    {"rwkv4_channel_mix", build_rwkv4_channel_mix},
};

}  // namespace

MixerPointer build_mixer(const catalog::MixerEntry& entry, const catalog::MixerContext& context,
                         const Options& options) {
  entry.validate(context, options);
  if (entry.python) {
    MixerPointer mixer = build_python_mixer(entry, context, options);
    mixer->name_in_catalog = entry.name;
    return mixer;
  }
  for (const Builder& builder : kBuilders) {
    if (entry.name != builder.name) continue;
    MixerPointer mixer = builder.build(context, options);
    mixer->name_in_catalog = entry.name;
    return mixer;
  }
  throw Error(ErrorKind::internal, "mixers/list.cpp",
              fmt::format("'{}' is in the catalog but cannot be built", entry.name));
}

std::vector<std::string> buildable_mixers() {
  std::vector<std::string> names;
  for (const Builder& builder : kBuilders) names.emplace_back(builder.name);
  return names;
}

}  // namespace mneme::mixers
