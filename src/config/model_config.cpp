#include "config/model_config.h"

#include <fmt/format.h>

#include <algorithm>

#include "catalog/python_mixer.h"
#include "core/error.h"
#include "core/text.h"

namespace mneme::config {
namespace {

// What "auto" means in each block.
struct BlockDefaults {
  const char* block;
  const char* state_mixer;
  const char* final_norm;
  const char* init;
};
constexpr BlockDefaults kDefaults[] = {
    {"zoology", "mlp", "layernorm", "zoology"}, {"parallel", "mlp", "layernorm", "zoology"},
    {"mamba", "none", "layernorm", "mamba"},    {"postnorm", "none", "none", "torch"},
    {"plain", "none", "none", "torch"},
};

BlockDefaults defaults_of(const std::string& block) {
  for (const BlockDefaults& entry : kDefaults)
    if (block == entry.block) return entry;
  throw Error(ErrorKind::internal, "model_config.cpp", "a block of the schema without defaults: " + block);
}

void replace_auto(Options& options, const char* name, const char* value) {
  if (options.text(name) == "auto") options.set(name, value);
}

// Of the catalog's mixers: an argument of a Python mixer means what its author says, whatever it is called.
bool has_field(const catalog::MixerEntry& entry, std::string_view name) {
  if (entry.python) return false;
  return std::any_of(entry.options.begin(), entry.options.end(),
                     [&](const Field& field) { return field.name == name; });
}

std::vector<std::string> option_tables() {
  std::vector<std::string> names;
  for (const auto& entry : catalog::mixer_catalog()) names.push_back(entry.name);
  for (const auto& entry : catalog::state_mixer_catalog()) names.push_back(entry.name);
  for (const auto* entry : catalog::python_mixers()) names.push_back(entry->table());
  return names;
}

MixerConfig mixer_config(const catalog::MixerEntry& entry, const ConfigValue& model) {
  return {&entry, resolve(entry.options, model.find(entry.table()), "model." + entry.table())};
}

// Those along the sequence. Python mixers are found first: their classes name tables that [model] may then have.
std::vector<const catalog::MixerEntry*> find_mixers(const ConfigValue& table) {
  const ConfigValue* given = table.find("mixer");
  const auto* text = given ? std::get_if<std::string>(&given->value) : nullptr;
  if (!text) return {};  // the schema's default, or a mistake that it reports
  std::vector<const catalog::MixerEntry*> entries;
  for (const auto& name : split(*text, '+')) {
    entries.push_back(catalog::is_python_name(name) ? &catalog::find_python_mixer(name, &table, given->origin)
                                                    : &catalog::find_mixer(name, given->origin));
    for (const auto* earlier : entries)
      if (earlier != entries.back() && earlier->table() == entries.back()->table())
        throw Error(ErrorKind::usage, given->origin,
                    fmt::format("{} and {} in one model, expected classes of different names: [model.{}] would be the "
                                "options of both",
                                earlier->name, entries.back()->name, earlier->table()));
  }
  return entries;
}

void choose_mixers(RunConfig& run, const ConfigValue& table, const std::vector<const catalog::MixerEntry*>& entries) {
  std::vector<std::string> names;
  for (const auto* entry : entries) {
    run.mixers.push_back(mixer_config(*entry, table));
    names.push_back(entry->name);
  }
  if (entries.empty()) run.mixers.push_back(mixer_config(catalog::find_mixer(run.model.text("mixer")), table));
  // A Python mixer without the folder of its file.
  if (!names.empty()) run.model.set("mixer", join(names, "+"));
  if (const std::string name = run.model.text("state_mixer"); name != "none")
    run.state_mixer = mixer_config(catalog::find_state_mixer(name), table);
  else if (run.model.text("block") == "parallel")
    run.model.reject("state_mixer",
                     "a state mixer to run in parallel with the sequence mixer, with block = \"parallel\"");
  // Tables of mixers that this run does not use (another point of a study's grid) are still checked.
  for (const auto* catalog : {&catalog::mixer_catalog(), &catalog::state_mixer_catalog()})
    for (const auto& entry : *catalog)
      if (table.find(entry.name)) mixer_config(entry, table);
  const auto is_used = [&](const catalog::MixerEntry& other) {
    return std::any_of(run.mixers.begin(), run.mixers.end(),
                       [&](const MixerConfig& mixer) { return mixer.entry->table() == other.table(); });
  };
  for (const auto* entry : catalog::python_mixers())
    if (!is_used(*entry) && table.find(entry->table())) mixer_config(*entry, table);
}

// The channels before the first layer, E, and after it, D.
void choose_widths(RunConfig& run) {
  Options& model = run.model;
  const std::int64_t D = model.integer("width"), raw = run.shape.is_signal() ? 1 : run.shape.vocab;
  replace_auto(model, "input", run.shape.is_signal() ? "linear" : "embedding");
  const std::string input = model.text("input");
  if (input == "embedding" && run.shape.is_signal()) model.reject("input", "linear or raw: a signal has no tokens");
  if (model.integer("embed_width") == 0) model.set("embed_width", input == "raw" ? raw : D);
  const std::int64_t E = model.integer("embed_width");
  if (input == "raw" && E != raw)
    model.reject("embed_width", fmt::format("{}, the width of the task's raw input", raw));
  if (E != D && model.text("block") != "plain")
    model.reject("embed_width", fmt::format("the width {}: only block = \"plain\" can differ", D));
  if (E != D && !has_field(*run.mixers.front().entry, "hidden_size"))
    model.reject("embed_width", fmt::format("the width {}: {} has as many output channels as input channels", D,
                                            run.mixers.front().entry->name));
  for (MixerConfig& mixer : run.mixers) {
    if (!has_field(*mixer.entry, "hidden_size")) continue;
    if (const std::int64_t H = mixer.options.integer("hidden_size"); H != 0 && H != D)
      mixer.options.reject("hidden_size", fmt::format("0 or the model's width {}", D));
    if (E != D) mixer.options.set("hidden_size", D);
  }
}

void choose_positions(RunConfig& run, const ConfigValue& table) {
  Options& model = run.model;
  const auto knows_order = [](const MixerConfig& mixer) { return mixer.entry->knows_order(mixer.options); };
  const bool order = std::any_of(run.mixers.begin(), run.mixers.end(), knows_order);
  replace_auto(model, "positions", order ? "none" : "learned");
  const std::string positions = model.text("positions");
  const std::int64_t length = run.shape.length;

  if (positions != "learned")
    model.set("max_positions", 0);
  else if (model.integer("max_positions") == 0)
    model.set("max_positions", length);
  else if (model.integer("max_positions") < length)
    model.reject("max_positions", fmt::format("at least the task's length {}", length));
  if (positions != "relative")
    model.set("max_shift", 0);
  else if (model.integer("max_shift") == 0)
    model.set("max_shift", length);

  if (positions == "rope") {
    if (model.integer("embed_width") < 2 || model.integer("width") < 2)
      model.reject("positions", "another value: rope rotates pairs of channels, and there is only one channel");
    for (MixerConfig& mixer : run.mixers) {
      if (!has_field(*mixer.entry, "rope")) continue;
      const ConfigValue* given = table.find(mixer.entry->table());
      if (given && given->find("rope") && !mixer.options.flag("rope"))
        mixer.options.reject("rope", "true with model.positions = \"rope\"");
      mixer.options.set("rope", true);
    }
  }
  if (!order && positions == "none" && run.needs_positions)
    run.warnings.push_back(fmt::format(
        "{} without position information (positions = \"none\", no rope, no convolution) sees its past as a set: "
        "{} cannot be learned by one layer, and probably not by several",
        model.text("mixer"), run.task_entry->name));
}

void choose_head(RunConfig& run, const ConfigValue& table) {
  Options& model = run.model;
  if (run.shape.is_signal()) {
    model.set("tied", false);
    model.set("head_bias", true);
  } else if (model.text("input") != "embedding" || model.integer("embed_width") != model.integer("width")) {
    if (table.find("tied") && model.flag("tied"))
      model.reject("tied", "false: there is no embedding table of the model's width");
    model.set("tied", false);
  }
}

}  // namespace

void resolve_model(RunConfig& run, const ConfigValue& table) {
  const auto entries = find_mixers(table);
  run.model = resolve(model_schema(), &table, "model", option_tables());
  const BlockDefaults block = defaults_of(run.model.text("block"));
  replace_auto(run.model, "state_mixer", block.state_mixer);
  replace_auto(run.model, "final_norm", block.final_norm);
  replace_auto(run.model, "init", block.init);
  choose_mixers(run, table, entries);
  choose_widths(run);
  choose_positions(run, table);
  choose_head(run, table);
  for (std::int64_t layer = 0; layer < run.model.integer("layers"); ++layer) {
    run.mixer(layer).entry->validate(run.context(layer), run.mixer(layer).options);
    if (run.state_mixer) run.state_mixer.entry->validate(run.state_context(layer), run.state_mixer.options);
  }
  for (const MixerConfig& mixer : run.mixers)
    if (!mixer.entry->causal(mixer.options))
      run.warnings.push_back(fmt::format("{} looks ahead with these options: it is not causal", mixer.entry->name));
}

bool RunConfig::rotates_input(std::int64_t layer) const {
  return model.text("positions") == "rope" && !has_field(*mixer(layer).entry, "rope");
}

}  // namespace mneme::config
