// `mneme bench train`: the speed of training and where its time goes.
#pragma once

#include "cli/command.h"

namespace mneme::cli {

void add_bench_train(CLI::App& app, Context& context);

}  // namespace mneme::cli
