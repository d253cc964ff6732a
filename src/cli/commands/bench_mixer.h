// `mneme bench mixer`: one mixer alone.
#pragma once

#include "cli/command.h"

namespace mneme::cli {

void add_bench_mixer(CLI::App& app, Context& context);

}  // namespace mneme::cli
