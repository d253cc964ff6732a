#include <fmt/format.h>

#include "core/error.h"
#include "mixers/attention.h"
#include "mixers/h3.h"
#include "mixers/ids4.h"
#include "mixers/mixer.h"
#include "mixers/nru.h"
#include "mixers/recurrent.h"
#include "mixers/s4.h"
#include "mixers/s4d.h"
#include "mixers/state_mixers.h"
#include "mixers/transformer.h"

namespace mneme {
namespace {

struct Builder {
  const char* name;
  MixerPointer (*build)(const MixerContext&, const Options&);
};

// The one list that joins torch modules to the catalog.
constexpr Builder kBuilders[] = {
    {"attention", build_attention},
    {"rnn", build_rnn},
    {"lstm", build_lstm},
    {"gru", build_gru},
    {"nru", build_nru},
    {"s4d", build_s4d},
    {"s4", build_s4},
    {"ids4", build_ids4},
    {"h3", build_h3},
    {"transformer", build_transformer},
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
