#include <fmt/format.h>

#include "core/error.h"
#include "mixers/attention.h"
#include "mixers/base_conv.h"
#include "mixers/based.h"
#include "mixers/linear_attention.h"
#include "mixers/mamba.h"
#include "mixers/mamba2.h"
#include "mixers/mixer.h"
#include "mixers/retention.h"
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
    {"mamba", build_mamba},
    {"s6", build_mamba},
    {"mamba2", build_mamba2},
    {"linear_attention", build_linear_attention},
    {"retnet", build_retnet},
    {"gla", build_gla},
    {"based", build_based},
    {"base_conv", build_base_conv},
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
