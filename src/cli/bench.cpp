#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "cli/bench_mixer.h"
#include "cli/command.h"
#include "cli/train_runs.h"
#include "core/error.h"
#include "core/text.h"
#include "study/worker.h"

namespace mneme {
namespace {

struct BenchOptions {
  std::vector<std::string> arguments;
  double seconds = 10;
};

// The setting in which Mneme is compared with others; assignments change it.
RunConfig bench_run(const std::vector<std::string>& arguments) {
  const FileAndOverrides input = sort_arguments(arguments);
  ConfigValue root = parse_toml(
      "task = { name = \"mqar\", length = 64, pairs = 4, vocab = 8192 }\n"
      "model = { width = 64, layers = 2 }\ntrain = { batch = 512 }\n",
      "bench");
  if (!input.file.empty()) root = load_toml(input.file);
  for (const std::string& assignment : input.overrides) apply_override(root, assignment);
  return resolve_run(root);
}

void print_result(const RunConfig& run, const Json& result) {
  const auto number = [&](const char* key) { return result.at(key).get<double>(); };
  fmt::print("{} on {}, width {}, {} layers, length {}, vocabulary {}, batch {}, one thread\n", run.model.text("mixer"),
             run.task_entry->name, run.model.integer("width"), run.model.integer("layers"), run.shape.length,
             grouped(run.shape.vocab), run.train.integer("batch"));
  fmt::print("  {:<22} {}\n", "tokens per second", grouped(std::llround(number("tokens_per_second"))));
  fmt::print("  {:<22} {:.1f} ms (median of {})\n", "step", 1e3 * number("step_seconds"),
             result.at("steps").get<int>());
  fmt::print("  {:<22} {:.2f} GFLOP/s\n", "useful work", number("useful_flops") / 1e9);
  fmt::print("  {:<22} {:.1f} GFLOP/s at 1024 x 1024 x 1024, {:.1f} at the model's shapes\n", "sgemm here",
             number("sgemm_square_flops") / 1e9, number("sgemm_model_flops") / 1e9);
  fmt::print("  {:<22} {:.1f} % and {:.1f} % of these\n", "useful work is", 100 * number("mfu_square"),
             100 * number("mfu_model"));
}

int bench(const BenchOptions& options, const Context& context) {
  if (!(options.seconds > 0 && options.seconds <= 3600))
    throw Error(ErrorKind::usage, "--seconds",
                fmt::format("got {}, expected a positive number up to 3600", options.seconds));
  const std::vector<RunConfig> runs{bench_run(options.arguments)};
  tell_warnings(runs);
  Json result;
  ask_worker(find_worker(), {{"request", "bench"}, {"config", runs[0].json}, {"seconds", options.seconds}}, "measured",
             [&](const Json& event) {
               if (event["event"] == "measured") result = event.at("result");
             });
  if (context.json)
    print_json(result);
  else
    print_result(runs[0], result);
  return 0;
}

}  // namespace

void add_bench(CLI::App& app, Context& context) {
  auto options = std::make_shared<BenchOptions>();
  app.add_option("input", options->arguments,
                 "a TOML file, and assignments a.b=value (default: attention, MQAR 64/4, 8192 tokens, batch 512)")
      ->type_name("[FILE] [a.b=value ...]");
  app.add_option("--seconds", options->seconds, "how long to measure")->capture_default_str();
  // This callback runs after that of a chosen subcommand, whose action must stay.
  app.callback([options, &app, &context] {
    if (app.get_subcommands().empty()) context.action = [options, &context] { return bench(*options, context); };
  });
  add_examples(app, "  mneme bench\n  mneme bench model.width=128 task.length=256 --seconds 5 --json\n"
                    "  mneme bench mixer mamba");
  app.require_subcommand(0, 1);
  CLI::App& mixer = *app.add_subcommand("mixer", "one mixer alone, forward and backward");
  mixer.set_help_flag("-h,--help", "this help");
  add_bench_mixer(mixer, context);
  add_common_options(mixer, context);
}

}  // namespace mneme
