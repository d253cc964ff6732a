#include <fmt/format.h>

#include "core/error.h"
#include "mixers/attention.h"
#include "mixers/delta_rule.h"
#include "mixers/hyena.h"
#include "mixers/mixer.h"
#include "mixers/rwkv4.h"
#include "mixers/rwkv5.h"
#include "mixers/rwkv7.h"
#include "mixers/state_mixers.h"

namespace mneme {
namespace {

struct Builder {
  const char* name;
  MixerPointer (*build)(const MixerContext&, const Options&);
};

// The one list that joins torch modules to the catalog.
constexpr Builder kBuilders[] = {
    {"attention", build_attention},
    {"rwkv4", build_rwkv4},
    {"deltanet", build_deltanet},
    {"gated_deltanet", build_gated_deltanet},
    {"deltaproduct", build_deltaproduct},
    {"rwkv5", build_rwkv5},
    {"rwkv7", build_rwkv7},
    {"hyena", build_hyena},
    {"rwkv4_channel_mix", build_rwkv4_channel_mix},
    {"mlp", build_mlp},
    {"glu", build_glu},
    {"identity", build_identity},
};

}  // namespace

MixerPointer build_mixer(const MixerEntry& entry, const MixerContext& context, const Options& options) {
  entry.validate(context, options);
  for (const Builder& builder : kBuilders)
    if (entry.name == builder.name) return builder.build(context, options);
  throw Error(ErrorKind::internal, "mixers/list.cpp", fmt::format("'{}' is in the catalog but cannot be built", entry.name));
}

std::vector<std::string> buildable_mixers() {
  std::vector<std::string> names;
  for (const Builder& builder : kBuilders) names.emplace_back(builder.name);
  return names;
}

}  // namespace mneme
