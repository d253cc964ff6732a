#include "config/run_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "config/model_config.h"
#include "config/test_config.h"
#include "core/error.h"
#include "core/hash.h"
#include "core/text.h"

namespace mneme::config {
namespace {

constexpr int kFormat = 1;
// A micro-batch: half a megabyte an activation tensor keeps a block's tensors in the second-level cache, but fewer
// tokens than these spend more on the weights and their gradients than that saves (docs/performance.md has the
// measurements).
constexpr std::int64_t kMicroBatchFloats = 131072, kMicroBatchTokens = 4096;
// How much of the work of training evaluation may cost by default. A step of training counts as three
// forward passes.
constexpr double kEvaluationShare = 0.03;

const ConfigValue& section(const ConfigValue& root, std::string_view name, const ConfigValue& empty) {
  const ConfigValue* found = root.find(name);
  if (!found) return empty;
  if (!found->is_table())
    throw Error(ErrorKind::usage, found->origin, fmt::format("{}: got {}, expected a table", name, found->shown()));
  return *found;
}

// "lr" is written train.lr.
std::string in_a_table(const std::string& key, const std::string& otherwise) {
  for (const auto& [table, schema] : {std::pair{"train", &train_schema()}, std::pair{"model", &model_schema()}})
    for (const Field& field : *schema)
      if (field.name == key) return fmt::format(", did you mean '{}.{}'?", table, key);
  for (const tasks::TaskEntry& entry : tasks::task_list())
    for (const Field& field : entry.options)
      if (field.name == key) return fmt::format(", did you mean 'task.{}'?", key);
  return otherwise;
}

void check_top_level(const ConfigValue& root) {
  static const std::vector<std::string> known = {"format", "task", "model", "train", "test"};
  for (const auto& [key, value] : root.table())
    if (std::find(known.begin(), known.end(), key) == known.end())
      throw Error(ErrorKind::usage, value.origin,
                  fmt::format("unknown table '{}'{}", key, in_a_table(key, suggestion(key, known))));
  if (const ConfigValue* format = root.find("format"))
    if (const auto* number = std::get_if<std::int64_t>(&format->value); !number || *number != kFormat)
      throw Error(
          ErrorKind::usage, format->origin,
          fmt::format("format: got {}, expected {}; written by another version of Mneme?", format->shown(), kFormat));
}

std::string name_of_task(const ConfigValue& table) {
  const ConfigValue* name = table.find("name");
  if (!name) return "mqar";
  if (const auto* text = std::get_if<std::string>(&name->value)) return *text;
  throw Error(ErrorKind::usage, name->origin,
              fmt::format("task.name: got {}, expected the name of a task", name->shown()));
}

void resolve_task(RunConfig& run, const ConfigValue& table) {
  const ConfigValue* name = table.find("name");
  run.task_entry = &tasks::find_task(name_of_task(table), name ? name->origin : "task.name");
  run.task = resolve(run.task_entry->options, &table, "task", {"name"});
  const auto task = run.task_entry->build(run.task);
  run.shape = task->shape();
  run.chance = task->chance();
  run.needs_positions = task->needs_positions();
}

// Options that have no effect given the others are at their defaults in the id: runs that train alike are the same run.
void forget_what_has_no_effect(Options& train, const tasks::TaskShape& shape) {
  const auto forget = [&](const char* name) {
    for (const Field& field : train_schema())
      if (field.name == name) train.set(name, field.fallback);
  };
  if (train.real("give_up_after") == 0) forget("give_up_below");
  if (train.real("stop_at") == 0 && train.real("give_up_after") == 0) forget("stop_on");
  if (!shape.is_signal()) forget("signal_loss");
  // Fresh examples come in one order.
  if (train.integer("examples") == 0) forget("order_seed");
}

// In order, each once, and all of them steps of the run.
void resolve_keep(Options& train) {
  const std::vector<std::int64_t> written = train.integers("keep");
  const std::set<std::int64_t> sorted(written.begin(), written.end());
  if (const std::int64_t steps = train.integer("steps"); !sorted.empty() && *sorted.rbegin() > steps)
    train.reject("keep", fmt::format("steps from 0 to train.steps = {}", steps));
  train.set("keep", std::vector<std::int64_t>(sorted.begin(), sorted.end()));
}

// "cuda:0" is "cuda": one device, one name in the id. Whether the libtorch at hand has it is the worker's to say.
void resolve_device(Options& train) {
  const std::string device = train.text("device");
  if (device == "cpu" || device == "cuda" || device == "mps") return;
  const std::string number = device.starts_with("cuda:") ? device.substr(5) : "";
  const bool is_number = !number.empty() && number.size() <= 3 && number.find_first_not_of("0123456789") == number.npos;
  const bool is_canonical = is_number && (number == "0" || number.front() != '0');
  if (!is_canonical) train.reject("device", "cpu, cuda, cuda:N or mps");
  if (number == "0") train.set("device", "cuda");
}

void resolve_train(RunConfig& run, const ConfigValue& table) {
  Options& train = run.train = resolve(train_schema(), &table, "train");
  resolve_device(train);
  const std::int64_t batch = train.integer("batch");
  if (const std::int64_t epochs = train.integer("epochs"); epochs > 0) {
    const std::int64_t examples = train.integer("examples");
    if (examples == 0)
      train.reject("epochs", "train.examples > 0 as well: without a finite training set there are no epochs");
    const std::int64_t steps = epochs * ((examples + batch - 1) / batch);
    if (table.find("steps") && train.integer("steps") != steps)
      train.reject("steps", fmt::format("either steps or epochs ({} epochs are {} steps)", epochs, steps));
    train.set("steps", steps);
  }
  if (train.integer("eval_every") == 0) train.set("eval_every", std::max<std::int64_t>(1, train.integer("steps") / 20));
  if (train.integer("eval_examples") == 0) {
    const double between = static_cast<double>(batch) * static_cast<double>(train.integer("eval_every"));
    train.set("eval_examples", static_cast<std::int64_t>(std::clamp(kEvaluationShare * 3 * between, 200.0, 1000.0)));
  }
  if (train.integer("micro_batch") > batch) train.reject("micro_batch", fmt::format("at most batch = {}", batch));
  if (train.integer("micro_batch") == 0) {
    const std::int64_t tokens = std::max(kMicroBatchFloats / run.model.integer("width"), kMicroBatchTokens);
    train.set("micro_batch", std::clamp<std::int64_t>(tokens / run.shape.length, 1, batch));
  }
  resolve_keep(train);
  forget_what_has_no_effect(train, run.shape);
  for (const char* part : {"data", "init", "order", "dropout"}) {
    const std::string name = std::string(part) + "_seed";
    if (train.integer(name) == -1)
      train.set(name, derived_seed(static_cast<std::uint64_t>(train.integer("seed")), part));
  }
}

// What follows from task and model alone. Filled in place: a list of braces would copy every table twice.
Json begun_json(const RunConfig& run) {
  Json begun;
  begun["format"] = kFormat;
  Json& task = begun["task"] = run.task.values();
  task["name"] = run.task_entry->name;
  Json& model = begun["model"] = run.model.values();
  for (const MixerConfig& mixer : run.mixers) model[mixer.entry->table()] = mixer.options.values();
  if (run.state_mixer) model[run.state_mixer.entry->name] = run.state_mixer.options.values();
  return begun;
}

// Options younger than the first runs, whose ids must stay: where they have their default, they are left out.
struct YoungOption {
  std::string name;
  Json fallback;
  std::string text;  // as canonical JSON has it, with the comma that follows
};
const std::vector<YoungOption>& young_options() {
  static const std::vector<YoungOption> options = [] {
    std::vector<YoungOption> young = {{"device", "cpu", ""}, {"keep", Json::array(), ""}, {"stop_on", "accuracy", ""}};
    for (YoungOption& one : young) one.text = fmt::format(R"("{}":{},)", one.name, canonical(one.fallback));
    return young;
  }();
  return options;
}

Json train_json(const RunConfig& run) {
  Json train = run.train.values();
  for (const YoungOption& young : young_options())
    if (train[young.name] == young.fallback) train.erase(young.name);
  return train;
}

// canonical(train_json(run)), without the copy. Quotes inside a value are escaped, so the text of an option is found
// nowhere else; none of them is the last key.
std::string train_text(const RunConfig& run) {
  std::string text = canonical(run.train.values());
  for (const YoungOption& young : young_options())
    if (const auto at = text.find(young.text); at != text.npos) text.erase(at, young.text.size());
  return text;
}

}  // namespace

RunConfig RunResolver::resolve(const ConfigValue& root) {
  require(root.is_table(), "a run's configuration is a table");
  check_top_level(root);
  const ConfigValue empty{ConfigTable{}, root.origin};
  const ConfigValue& task = section(root, "task", empty);
  const ConfigValue& model = section(root, "model", empty);
  if (!known_ || task_ != task || model_ != model) {
    known_ = false;
    begun_ = {};
    resolve_task(begun_, task);
    resolve_model(begun_, model);
    // Most runs of a grid share task and model: what their ids are hashed from begins with the same text.
    begun_text_ = canonical(begun_json(begun_));
    begun_text_.pop_back();
    task_ = task;
    model_ = model;
    known_ = true;
  }
  RunConfig run = begun_;
  resolve_train(run, section(root, "train", empty));
  resolve_test(run, section(root, "test", empty));
  // The canonical text of the whole: "test" and "train" come after all other keys.
  std::string text = begun_text_;
  if (const Json test = test_json(run); !test.is_null()) text += fmt::format(R"(,"test":{})", canonical(test));
  text += fmt::format(R"(,"train":{}}})", train_text(run));
  run.id = sha256_hex(text).substr(0, 12);
  return run;
}

Json RunConfig::json() const {
  Json whole = begun_json(*this);
  whole["train"] = train_json(*this);
  if (Json tested = test_json(*this); !tested.is_null()) whole["test"] = std::move(tested);
  return whole;
}

RunConfig resolve_run(const ConfigValue& root) { return RunResolver().resolve(root); }

}  // namespace mneme::config
