// What the worker can say about Python mixers, and the requests "describe_mixer", "measure_mixer" and "try_order" of
// the front end (docs/worker-protocol.md).
#pragma once

#include "catalog/python_mixer.h"

namespace mneme::worker {

// Asks the bridge in this process.
class BridgedMixers : public catalog::PythonMixers {
 public:
  Json describe(const Path& file, const std::string& class_name) override;
  Json measure(const catalog::PythonClass& python, const catalog::MixerContext& context, const Json& options) override;
  Json try_order(const catalog::PythonClass& python, const Json& options) override;
};

void carry_out_describe_mixer(const Json& request);
void carry_out_measure_mixer(const Json& request);
void carry_out_try_order(const Json& request);

}  // namespace mneme::worker
