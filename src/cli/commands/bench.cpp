#include <CLI/CLI.hpp>

#include "cli/command.h"
#include "cli/commands/bench_mixer.h"
#include "cli/commands/bench_train.h"

namespace mneme::cli {

// Without a subcommand, `mneme bench` is `mneme bench train`.
void add_bench(CLI::App& app, Context& context) {
  add_bench_train(app, context);
  add_examples(app,
               "  mneme bench train\n  mneme bench train model.mixer=mamba --profile\n"
               "  mneme bench model.width=128 task.length=256 --seconds 5 --json\n  mneme bench mixer mamba");
  app.require_subcommand(0, 1);

  CLI::App& train = *app.add_subcommand("train", "measure training: speed, parts of a step, memory");
  train.set_help_flag("-h,--help", "print this help");
  add_bench_train(train, context);
  add_examples(train, "  mneme bench train\n  mneme bench train model.mixer=mamba model.width=128 --profile");
  add_common_options(train, context);

  CLI::App& mixer = *app.add_subcommand("mixer", "measure one mixer alone, forward and backward");
  mixer.set_help_flag("-h,--help", "print this help");
  add_bench_mixer(mixer, context);
  add_common_options(mixer, context);
}

}  // namespace mneme::cli
