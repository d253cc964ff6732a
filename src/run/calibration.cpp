#include "run/calibration.h"

#include <fstream>

#include "core/error.h"
#include "core/hash.h"
#include "run/worker.h"

namespace mneme::run {
namespace {

std::string machine() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  return "unknown";
}

// Runs that differ in these only take the same time per step.
std::string key_of(const config::RunConfig& run) {
  Json config = run.json();
  for (const char* name : {"lr", "seed", "data_seed", "init_seed", "order_seed", "dropout_seed", "steps", "eval_every",
                           "eval_examples", "test_examples"})
    config["train"].erase(name);
  config.erase("test");
  config["machine"] = machine();
  return sha256_hex(canonical(config)).substr(0, 16);
}

Json remembered(const Path& file) {
  try {
    if (std::filesystem::exists(file)) return parse_json(read_file(file), file.string());
  } catch (const Error&) {
    // It can be measured again.
  }
  return Json::object();
}

}  // namespace

std::map<std::string, StepCost> calibrated_steps(std::span<const config::RunConfig* const> runs, const store::Lab& lab,
                                                 bool measure) {
  const Path file = lab.root() / "calibration.json";
  Json known = remembered(file);
  Json configs = Json::array();
  std::map<std::string, std::string> keys;
  for (const config::RunConfig* run : runs) {
    keys[run->id] = key_of(*run);
    // Files of an earlier version remember seconds alone.
    if (!known.contains(keys[run->id]) || !known[keys[run->id]].is_object()) configs.push_back(run->json());
  }
  if (measure && !configs.empty()) {
    ask_worker(find_worker(), {{"request", "measure"}, {"configs", configs}, {"seconds", 0.5}}, "finished",
               [&](const Json& event) {
                 if (event["event"] == "step")
                   known[keys.at(event.at("run"))] = {{"seconds", event.at("seconds")}, {"bytes", event.at("bytes")}};
               });
    if (std::filesystem::is_directory(lab.root())) write_file_atomically(file, known.dump(2) + "\n");
  }
  std::map<std::string, StepCost> costs;
  for (const config::RunConfig* run : runs)
    if (const Json cost = known.value(keys[run->id], Json()); cost.is_object())
      costs[run->id] = {cost.value("seconds", 0.0), cost.value("bytes", 0.0)};
  return costs;
}

double available_memory() {
  std::ifstream file("/proc/meminfo");
  std::string name, unit;
  for (double kibibytes = 0; file >> name >> kibibytes; std::getline(file, unit))
    if (name == "MemAvailable:") return 1024 * kibibytes;
  return 0;
}

}  // namespace mneme::run
