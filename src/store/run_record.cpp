#include "store/run_record.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>

#include "core/error.h"
#include "core/hash.h"
#include "core/safetensors.h"

namespace mneme::store {
namespace {

std::optional<double> number(const Json& object, const Json::json_pointer& at) {
  // A number that was not finite is null in JSON.
  if (!object.contains(at) || !object.at(at).is_number()) return std::nullopt;
  return object.at(at).get<double>();
}

const Json& member(const Json& config, const char* pointer, const Path& file) {
  const Json::json_pointer at(pointer);
  if (!config.contains(at))
    throw Error(ErrorKind::data, file.string(), fmt::format("has no {}, expected a run's configuration", pointer));
  return config.at(at);
}

void fill_from_config(RunRecord& record, const Json& config, const Path& file) {
  record.task = member(config, "/task/name", file).get<std::string>();
  record.mixer = member(config, "/model/mixer", file).get<std::string>();
  record.width = member(config, "/model/width", file).get<std::int64_t>();
  record.layers = member(config, "/model/layers", file).get<std::int64_t>();
  record.lr = member(config, "/train/lr", file).get<double>();
  record.seed = member(config, "/train/seed", file).get<std::int64_t>();
}

void fill_from_summary(RunRecord& record, const Json& summary) {
  record.summary = summary.dump();
  record.reason = summary.value("reason", "");
  record.validation_accuracy = number(summary, "/values/validation/accuracy"_json_pointer);
  record.test_accuracy = number(summary, "/values/test/accuracy"_json_pointer);
  record.steps = static_cast<std::int64_t>(number(summary, "/values/step"_json_pointer).value_or(0));
  record.seconds = number(summary, "/times/seconds"_json_pointer).value_or(0);
}

void fill_from_metrics(RunRecord& record, const std::vector<Json>& metrics) {
  for (const Json& metric : metrics) {
    record.steps = static_cast<std::int64_t>(number(metric, "/step"_json_pointer).value_or(0));
    record.seconds = number(metric, "/times/seconds"_json_pointer).value_or(record.seconds);
    if (metric.value("split", "") == "validation")
      record.validation_accuracy = number(metric, "/values/accuracy"_json_pointer);
  }
}

// Notes are no part of a run: one whose notes are damaged is as good as before. `mneme show` tells of the damage.
RunNotes notes_or_none(const RunDirectory& directory) {
  try {
    return read_notes(directory);
  } catch (const Error&) {
    return {};
  }
}

// An interrupted run has trained up to its checkpoint, which may be past its last evaluation.
std::int64_t checkpoint_step(const RunDirectory& directory) {
  for (const Path& file : {directory.checkpoint(), directory.previous_checkpoint()}) {
    try {
      if (!std::filesystem::exists(file)) continue;
      const Safetensors checkpoint = Safetensors::load(file);
      return parse_json(checkpoint.metadata().at("position"), file.string()).at("step").get<std::int64_t>();
    } catch (const std::exception&) {
      // Whether a checkpoint can be used is found out when the run resumes.
    }
  }
  return 0;
}

}  // namespace

RunState parse_run_state(std::string_view name) {
  for (const RunState state : {RunState::fresh, RunState::running, RunState::interrupted, RunState::done,
                               RunState::diverged, RunState::failed, RunState::cancelled})
    if (run_state_name(state) == name) return state;
  throw Error(ErrorKind::data, "run state",
              fmt::format("got '{}', expected new, running, interrupted, done, diverged, failed or cancelled", name));
}

RunRecord read_record(const RunDirectory& directory) try {
  RunRecord record;
  record.id = directory.path().filename().string();
  // Before the content: what changes in between is then seen as a change next time.
  record.changed = last_change(directory);
  const Path file = directory.path() / "config.json";
  const Json config = directory.config();
  record.config = canonical(config);
  if (sha256_hex(record.config).substr(0, 12) != record.id)
    throw Error(ErrorKind::data, file.string(), "does not match its run id: the configuration was changed");
  fill_from_config(record, config, file);
  record.state = directory.state();
  record.notes = notes_or_none(directory);
  const std::vector<Json> metrics = directory.metrics();
  for (const Json& metric : metrics)
    record.metrics.push_back({metric.at("step").get<std::int64_t>(), metric.value("split", ""),
                              number(metric, "/times/seconds"_json_pointer).value_or(0), metric.at("values").dump()});
  if (const auto summary = directory.summary()) {
    fill_from_summary(record, *summary);
  } else {
    fill_from_metrics(record, metrics);
    record.steps = std::max(record.steps, checkpoint_step(directory));
  }
  return record;
} catch (const Json::exception& error) {
  throw Error(ErrorKind::data, directory.path().string(), fmt::format("damaged file: {}", error.what()));
}

std::int64_t last_change(const RunDirectory& directory) {
  std::int64_t latest = 0;
  for (const char* name : {"config.json", "metrics.jsonl", "summary.json"}) {
    struct stat status {};
    if (::stat((directory.path() / name).c_str(), &status) == 0)
      latest = std::max<std::int64_t>(latest, status.st_mtim.tv_sec * 1000000000LL + status.st_mtim.tv_nsec);
  }
  return latest;
}

}  // namespace mneme::store
