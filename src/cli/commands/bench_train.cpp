#include "cli/commands/bench_train.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>

#include "cli/train_runs.h"
#include "core/error.h"
#include "core/text.h"
#include "run/worker.h"

namespace mneme::cli {
namespace {

struct BenchTrainOptions {
  std::vector<std::string> arguments;
  double seconds = 10;
  bool profile = false;
  std::string case_file;
};

// Operations below this share of a step are summed up in one line a part.
constexpr double kShownShare = 0.005;

// The setting in which Mneme is compared with others; assignments change it.
config::RunConfig bench_run(const std::vector<std::string>& arguments) {
  const FileAndOverrides input = sort_arguments(arguments);
  ConfigValue root = parse_toml(
      "task = { name = \"mqar\", length = 64, pairs = 4, vocab = 8192 }\n"
      "model = { width = 64, layers = 2 }\ntrain = { batch = 512 }\n",
      "bench");
  if (!input.file.empty()) root = load_toml(input.file);
  for (const std::string& assignment : input.overrides) apply_override(root, assignment);
  return config::resolve_run(root);
}

double number(const Json& object, const char* key) { return object.at(key).get<double>(); }

void print_speed(const config::RunConfig& run, const Json& result) {
  const auto line = [](const char* name, const std::string& text) { fmt::print("  {:<18} {}\n", name, text); };
  fmt::print("{} on {}, width {}, {} layers, length {}, vocabulary {}, batch {}, {} parameters, one thread\n",
             run.model.text("mixer"), run.task_entry->name, run.model.integer("width"), run.model.integer("layers"),
             run.shape.length, grouped(run.shape.vocab), run.train.integer("batch"), grouped(run.parameters()));
  line("tokens per second", grouped(std::llround(number(result, "tokens_per_second"))));
  line("step", fmt::format("{:.1f} ms (median of {}), {:.1f} ms of it CPU time", 1e3 * number(result, "step_seconds"),
                           result.at("steps").get<int>(), 1e3 * number(result, "step_thread_seconds")));
  line("useful work", fmt::format("{:.2f} GFLOP per step, {:.2f} GFLOP/s", number(result, "useful_flop") / 1e9,
                                  number(result, "useful_flops") / 1e9));
  line("sgemm here",
       fmt::format("{:.1f} GFLOP/s at the model's shapes, {:.1f} at 1024 x 1024 x 1024",
                   number(result, "sgemm_model_flops") / 1e9, number(result, "sgemm_square_flops") / 1e9));
  line("useful work is", fmt::format("{:.1f} % and {:.1f} % of that", 100 * number(result, "mfu_model"),
                                     100 * number(result, "mfu_square")));
  const auto cost = [&](const char* key) {
    const double seconds = number(result, key);
    return fmt::format("{:.3f} ms ({:.2f} %)", 1e3 * seconds, 100 * seconds / number(result, "step_thread_seconds"));
  };
  line("recording", fmt::format("{} of a step for the autopsy, {} for the gradient's norm", cost("recording_seconds"),
                                cost("gradient_norm_seconds")));
  line("memory", fmt::format("{:.1f} MB for the tensors of a step, {:.1f} MB peak for the process",
                             number(result, "tensor_bytes") / 1e6, number(result, "resident_bytes") / 1e6));
}

void print_parts(const Json& parts) {
  fmt::print("\n{:<18} {:>9} {:>7} {:>9} {:>9}   {:>9} {:>9} {:>9} {:>9} {:>9}\n", "part", "ms", "share", "forward",
             "backward", "products", "kernels", "libtorch", "autograd", "GFLOP/s");
  for (const Json& part : parts) {
    const Json& kinds = part.at("kinds");
    const std::string rate = part.contains("useful_flop")
                                 ? fmt::format("{:.1f}", number(part, "useful_flop") / number(part, "seconds") / 1e9)
                                 : "";
    fmt::print("{:<18} {:>9.2f} {:>5.1f} % {:>9.2f} {:>9.2f}   {:>9.2f} {:>9.2f} {:>9.2f} {:>9.2f} {:>9}\n",
               part.at("part").get<std::string>(), 1e3 * number(part, "seconds"), 100 * number(part, "share"),
               1e3 * number(part, "forward"), 1e3 * number(part, "backward"), 1e3 * number(kinds, "products"),
               1e3 * number(kinds, "kernels"), 1e3 * number(kinds, "libtorch"), 1e3 * number(kinds, "autograd"), rate);
  }
}

void print_operation(const std::string& part, const std::string& name, const Json& row) {
  fmt::print("{:<18} {:<34} {:>9.2f} {:>5.1f} % {:>9.2f} {:>9.2f} {:>9.0f}\n", part, name, 1e3 * number(row, "seconds"),
             100 * number(row, "share"), 1e3 * number(row, "forward"), 1e3 * number(row, "backward"),
             number(row, "calls"));
}

void print_operations(const Json& parts, const Json& operations) {
  fmt::print("\n{:<18} {:<34} {:>9} {:>7} {:>9} {:>9} {:>9}\n", "part", "operation", "ms", "share", "forward",
             "backward", "calls");
  for (const Json& part : parts) {
    const auto name = part.at("part").get<std::string>();
    Json others = {{"seconds", 0.0}, {"share", 0.0}, {"forward", 0.0}, {"backward", 0.0}, {"calls", 0.0}};
    int hidden = 0;
    for (const Json& row : operations) {
      if (row.at("part") != name) continue;
      if (number(row, "share") >= kShownShare) {
        print_operation(name, row.at("operation").get<std::string>(), row);
        continue;
      }
      ++hidden;
      for (auto& [key, value] : others.items()) value = value.get<double>() + number(row, key.c_str());
    }
    if (hidden > 0) print_operation(name, fmt::format("({} below {} %)", hidden, 100 * kShownShare), others);
  }
}

int bench_train(const BenchTrainOptions& options, const Context& context) {
  if (!(options.seconds > 0 && options.seconds <= 3600))
    throw Error(ErrorKind::usage, "--seconds",
                fmt::format("got {}, expected a positive number up to 3600", options.seconds));
  const std::vector<config::RunConfig> runs{bench_run(options.arguments)};
  tell_warnings(runs);
  Json result;
  const Json request = {{"request", "bench_train"},
                        {"config", runs[0].json()},
                        {"seconds", options.seconds},
                        {"profile", options.profile},
                        {"case", options.case_file}};
  run::ask_worker(run::find_worker(), request, "measured", [&](const Json& event) {
    if (event["event"] == "measured") result = event.at("result");
  });
  if (context.json) {
    print_json(result);
    return 0;
  }
  print_speed(runs[0], result);
  print_parts(result.at("parts"));
  if (options.profile) print_operations(result.at("parts"), result.at("operations"));
  return 0;
}

}  // namespace

void add_bench_train(CLI::App& app, Context& context) {
  auto options = std::make_shared<BenchTrainOptions>();
  app.add_option("input", options->arguments,
                 "a TOML file and overrides a.b=value (default: attention, MQAR 64/4, vocabulary 8192, batch 512)")
      ->type_name("[FILE] [a.b=value ...]");
  app.add_option("--seconds", options->seconds, "seconds to measure")->capture_default_str();
  app.add_flag("--profile", options->profile, "also print the time of each operation in each part of the model");
  app.add_option("--save-case", options->case_file,
                 "write weights, batch, loss and gradient norm of the first step, for comparison with other programs")
      ->type_name("FILE");
  // This callback runs after that of a chosen subcommand, whose action must stay.
  app.callback([options, &app, &context] {
    if (app.get_subcommands().empty()) context.action = [options, &context] { return bench_train(*options, context); };
  });
}

}  // namespace mneme::cli
