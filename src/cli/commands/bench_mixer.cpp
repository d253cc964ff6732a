#include "cli/commands/bench_mixer.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>

#include "catalog/mixer_entry.h"
#include "core/error.h"
#include "core/text.h"
#include "run/worker.h"

namespace mneme::cli {
namespace {

struct BenchMixerOptions {
  std::string mixer;
  std::vector<std::string> assignments;
  std::int64_t width = 128, length = 256, batch = 16;
  std::vector<std::int64_t> lengths;
  double seconds = 3;
  std::string case_file;
};

void require_range(const char* name, double value, double largest) {
  if (!(value > 0 && value <= largest))
    throw Error(ErrorKind::usage, name, fmt::format("got {}, expected a positive number up to {}", value, largest));
}

// Checked here, so that a misspelt option is reported before the worker has started.
Json request_of(const BenchMixerOptions& given) {
  require_range("--seconds", given.seconds, 3600);
  require_range("--width", static_cast<double>(given.width), 1 << 16);
  require_range("--batch", static_cast<double>(given.batch), 1 << 20);
  const std::vector<std::int64_t> lengths = given.lengths.empty() ? std::vector{given.length} : given.lengths;
  const catalog::MixerEntry& entry = catalog::find_mixer(given.mixer, "mneme bench mixer");
  ConfigValue table{ConfigTable{}, ""};
  for (const std::string& assignment : given.assignments) apply_override(table, assignment);
  const Options options = resolve(entry.options, &table, entry.name);
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    require_range("--lengths", static_cast<double>(lengths[i]), 1 << 24);
    if (std::find(lengths.begin(), lengths.begin() + static_cast<std::ptrdiff_t>(i), lengths[i]) !=
        lengths.begin() + static_cast<std::ptrdiff_t>(i))
      throw Error(ErrorKind::usage, "--lengths", fmt::format("length {} is given twice", lengths[i]));
    entry.validate({given.width, lengths[i], 0, 1}, options);
  }
  return {{"request", "bench_mixer"}, {"mixer", entry.name},    {"options", config_to_json(table)},
          {"width", given.width},     {"batch", given.batch},   {"lengths", lengths},
          {"seconds", given.seconds}, {"case", given.case_file}};
}

void print_result(const Json& result) {
  fmt::print(
      "{}, width {}, batch {}, forward and backward, one thread; sgemm here {:.1f} GFLOP/s (1024 x 1024 x 1024)\n",
      result.at("mixer").get<std::string>(), result.at("width").get<std::int64_t>(),
      result.at("batch").get<std::int64_t>(), result.at("sgemm_square_flops").get<double>() / 1e9);
  fmt::print("{:>8} {:>12} {:>12} {:>12} {:>10} {:>12}\n", "length", "step", "tokens/s", "GFLOP/s", "of sgemm",
             "memory");
  for (const Json& row : result.at("rows")) {
    const auto number = [&](const char* key) { return row.at(key).get<double>(); };
    fmt::print("{:>8} {:>9.2f} ms {:>12} {:>12.2f} {:>8.1f} % {:>9.1f} MB\n", row.at("length").get<std::int64_t>(),
               1e3 * number("step_seconds"), grouped(std::llround(number("tokens_per_second"))),
               number("useful_flops") / 1e9, 100 * number("mfu_square"), number("peak_bytes") / 1e6);
  }
  if (result.contains("time_exponent"))
    fmt::print("time grows as length^{:.2f}, memory as length^{:.2f}\n", result.at("time_exponent").get<double>(),
               result.at("memory_exponent").get<double>());
}

int bench_mixer(const BenchMixerOptions& options, const Context& context) {
  Json result;
  run::ask_worker(run::find_worker(), request_of(options), "measured", [&](const Json& event) {
    if (event["event"] == "measured") result = event.at("result");
  });
  if (context.json)
    print_json(result);
  else
    print_result(result);
  return 0;
}

}  // namespace

void add_bench_mixer(CLI::App& app, Context& context) {
  auto options = std::make_shared<BenchMixerOptions>();
  app.add_option("mixer", options->mixer, "name of a mixer (see `mneme list mixers`)")->required()->type_name("NAME");
  app.add_option("options", options->assignments, "options of the mixer")->type_name("[option=value ...]");
  app.add_option("--width", options->width, "channels D")->capture_default_str();
  app.add_option("--length", options->length, "tokens L")->capture_default_str();
  app.add_option("--lengths", options->lengths, "sequence lengths to compare, to see how time and memory grow")
      ->delimiter(',');
  app.add_option("--batch", options->batch, "sequences B")->capture_default_str();
  app.add_option("--seconds", options->seconds, "seconds to measure each length")->capture_default_str();
  app.add_option("--save-case", options->case_file,
                 "write the first workload as a golden case that other programs can read")
      ->type_name("FILE");
  app.callback(
      [options, &context] { context.action = [options, &context] { return bench_mixer(*options, context); }; });
  add_examples(app,
               "  mneme bench mixer mamba\n  mneme bench mixer gla num_heads=2 --lengths 512,1024,2048,4096 --batch 4");
}

}  // namespace mneme::cli
