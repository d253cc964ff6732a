// The model part of a run's configuration.
#pragma once

#include "config/run_config.h"

namespace mneme::config {

// Fills run.model, run.mixers and run.state_mixer from the table [model], with every "auto" and 0 replaced by what
// it stands for; adds to run.warnings. The task must be resolved before. Throws Error(usage).
void resolve_model(RunConfig& run, const ConfigValue& table);

}  // namespace mneme::config
