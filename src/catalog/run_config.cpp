#include "catalog/run_config.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.h"
#include "core/hash.h"
#include "core/text.h"

namespace mneme {
namespace {

constexpr int kFormat = 1;
// Floats of one activation tensor of a micro-batch: half a megabyte keeps a block's tensors in the
// second-level cache (docs/performance.md has the measurement).
constexpr std::int64_t kMicroBatchFloats = 131072;

const ConfigValue& section(const ConfigValue& root, std::string_view name, const ConfigValue& empty) {
  const ConfigValue* found = root.find(name);
  if (!found) return empty;
  if (!found->is_table())
    throw Error(ErrorKind::usage, found->origin, fmt::format("{}: got {}, expected a table", name, found->shown()));
  return *found;
}

void check_top_level(const ConfigValue& root) {
  static const std::vector<std::string> known = {"format", "task", "model", "train"};
  for (const auto& [key, value] : root.table())
    if (std::find(known.begin(), known.end(), key) == known.end())
      throw Error(ErrorKind::usage, value.origin, fmt::format("unknown table '{}'{}", key, suggestion(key, known)));
  if (const ConfigValue* format = root.find("format"))
    if (const auto* number = std::get_if<std::int64_t>(&format->value); !number || *number != kFormat)
      throw Error(ErrorKind::usage, format->origin,
                  fmt::format("format: got {}, expected {}; written by another version of Mneme?", format->shown(), kFormat));
}

std::vector<std::string> option_tables() {
  std::vector<std::string> names;
  for (const auto& entry : mixer_catalog()) names.push_back(entry.name);
  for (const auto& entry : state_mixer_catalog()) names.push_back(entry.name);
  return names;
}

std::string name_of_task(const ConfigValue& table) {
  const ConfigValue* name = table.find("name");
  if (!name) return "mqar";
  if (const auto* text = std::get_if<std::string>(&name->value)) return *text;
  throw Error(ErrorKind::usage, name->origin, fmt::format("task.name: got {}, expected the name of a task", name->shown()));
}

MixerConfig mixer_config(const MixerEntry& entry, const ConfigValue& model) {
  return {&entry, resolve(entry.options, model.find(entry.name), "model." + entry.name)};
}

std::string origin_of(const ConfigValue& table, std::string_view key, std::string_view fallback) {
  const ConfigValue* value = table.find(key);
  return value ? value->origin : std::string(fallback);
}

void resolve_task(RunConfig& run, const ConfigValue& table) {
  run.task_entry = &find_task(name_of_task(table), origin_of(table, "name", "task.name"));
  run.task = resolve(run.task_entry->options, &table, "task", {"name"});
  const auto task = run.task_entry->build(run.task);
  run.shape = task->shape();
  run.chance = task->chance();
  run.needs_positions = task->needs_positions();
}

void resolve_model(RunConfig& run, const ConfigValue& table) {
  run.model = resolve(model_schema(), &table, "model", option_tables());
  for (const auto& name : split(run.model.text("mixer"), '+'))
    run.mixers.push_back(mixer_config(find_mixer(name, origin_of(table, "mixer", "model.mixer")), table));
  run.state_mixer = mixer_config(find_state_mixer(run.model.text("state_mixer")), table);
  // Tables of mixers that this run does not use (another point of a study's grid) are still checked.
  for (const auto* catalog : {&mixer_catalog(), &state_mixer_catalog()})
    for (const auto& entry : *catalog)
      if (table.find(entry.name)) mixer_config(entry, table);

  const bool order = std::any_of(run.mixers.begin(), run.mixers.end(),
                                 [](const MixerConfig& mixer) { return mixer.entry->knows_order(mixer.options); });
  if (run.model.text("positions") == "auto") run.model.set("positions", order ? "none" : "learned");
  const bool learned = run.model.text("positions") == "learned";
  if (!learned) {
    run.model.set("max_positions", 0);
  } else if (run.model.integer("max_positions") == 0) {
    run.model.set("max_positions", run.shape.length);
  } else if (run.model.integer("max_positions") < run.shape.length) {
    run.model.reject("max_positions", fmt::format("at least the task's length {}", run.shape.length));
  }
  if (run.shape.is_signal()) run.model.set("tied", false);
  for (std::int64_t layer = 0; layer < run.model.integer("layers"); ++layer) {
    const MixerConfig& mixer = run.mixers[static_cast<std::size_t>(layer) % run.mixers.size()];
    mixer.entry->validate(run.context(layer), mixer.options);
    run.state_mixer.entry->validate(run.context(layer), run.state_mixer.options);
  }
  if (!order && !learned && run.needs_positions)
    run.warnings.push_back(fmt::format(
        "{} without position information (positions = \"none\", no rope, no convolution) sees its past as a set: "
        "{} is not learnable by one layer and not expected to be by several",
        run.model.text("mixer"), run.task_entry->name));
  for (const MixerConfig& mixer : run.mixers)
    if (!mixer.entry->causal(mixer.options))
      run.warnings.push_back(fmt::format("{} looks ahead with these options: it is not causal", mixer.entry->name));
}

void resolve_train(RunConfig& run, const ConfigValue& table) {
  Options& train = run.train = resolve(train_schema(), &table, "train");
  const std::int64_t batch = train.integer("batch");
  if (const std::int64_t epochs = train.integer("epochs"); epochs > 0) {
    const std::int64_t examples = train.integer("examples");
    if (examples == 0) train.reject("epochs", "train.examples > 0 with it: fresh examples have no epochs");
    const std::int64_t steps = epochs * ((examples + batch - 1) / batch);
    if (table.find("steps") && train.integer("steps") != steps)
      train.reject("steps", fmt::format("either steps or epochs ({} epochs are {} steps)", epochs, steps));
    train.set("steps", steps);
  }
  if (train.integer("eval_every") == 0) train.set("eval_every", std::max<std::int64_t>(1, train.integer("steps") / 20));
  if (train.integer("micro_batch") > batch) train.reject("micro_batch", fmt::format("at most batch = {}", batch));
  if (train.integer("micro_batch") == 0) {
    const std::int64_t per_example = run.shape.length * run.model.integer("width");
    train.set("micro_batch", std::clamp<std::int64_t>(kMicroBatchFloats / per_example, 1, batch));
  }
  for (const char* part : {"data", "init", "order", "dropout"}) {
    const std::string name = std::string(part) + "_seed";
    if (train.integer(name) == -1)
      train.set(name, derived_seed(static_cast<std::uint64_t>(train.integer("seed")), part));
  }
}

Json complete_json(const RunConfig& run) {
  Json task = run.task.values();
  task["name"] = run.task_entry->name;
  Json model = run.model.values();
  for (const MixerConfig& mixer : run.mixers) model[mixer.entry->name] = mixer.options.values();
  model[run.state_mixer.entry->name] = run.state_mixer.options.values();
  return {{"format", kFormat}, {"task", task}, {"model", model}, {"train", run.train.values()}};
}

}  // namespace

RunConfig resolve_run(const ConfigValue& root) {
  check(root.is_table(), "a run's configuration is a table");
  check_top_level(root);
  const ConfigValue empty{ConfigTable{}, root.origin};
  RunConfig run;
  resolve_task(run, section(root, "task", empty));
  resolve_model(run, section(root, "model", empty));
  resolve_train(run, section(root, "train", empty));
  run.json = complete_json(run);
  run.id = sha256_hex(canonical(run.json)).substr(0, 12);
  return run;
}

MixerContext RunConfig::context(std::int64_t layer) const {
  return {model.integer("width"), shape.length, layer, model.integer("layers")};
}

std::int64_t RunConfig::parameters() const {
  const std::int64_t D = model.integer("width"), layers = model.integer("layers");
  std::int64_t total = shape.vocab * D + model.integer("max_positions") * D + 2 * D;
  // A signal comes in through one matrix with bias and leaves through another.
  if (shape.is_signal()) total += 2 * D + D + 1;
  else if (!model.flag("tied")) total += shape.classes * D;
  for (std::int64_t layer = 0; layer < layers; ++layer) {
    const MixerConfig& mixer = mixers[static_cast<std::size_t>(layer) % mixers.size()];
    total += mixer.entry->parameters(context(layer), mixer.options) +
             state_mixer.entry->parameters(context(layer), state_mixer.options) + 4 * D;
  }
  return total;
}

std::int64_t RunConfig::state() const {
  std::int64_t total = 0;
  for (std::int64_t layer = 0; layer < model.integer("layers"); ++layer) {
    const MixerConfig& mixer = mixers[static_cast<std::size_t>(layer) % mixers.size()];
    total += mixer.entry->state(context(layer), mixer.options);
  }
  return total;
}

double RunConfig::forward_flops_per_example() const {
  const auto outputs = static_cast<double>(shape.is_signal() ? 1 : shape.classes);
  double total = 2.0 * shape.asked * static_cast<double>(model.integer("width")) * outputs;
  for (std::int64_t layer = 0; layer < model.integer("layers"); ++layer) {
    const MixerConfig& mixer = mixers[static_cast<std::size_t>(layer) % mixers.size()];
    total += mixer.entry->flops(context(layer), mixer.options) +
             state_mixer.entry->flops(context(layer), state_mixer.options);
  }
  return total;
}

}  // namespace mneme
