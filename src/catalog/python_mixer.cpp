#include "catalog/python_mixer.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "catalog/python_store.h"
#include "core/error.h"
#include "core/hash.h"
#include "core/text.h"

namespace mneme::catalog {
namespace {

namespace fs = std::filesystem;

std::shared_ptr<PythonMixers>& installed() {
  static std::shared_ptr<PythonMixers> mixers;
  return mixers;
}

PythonMixers& asked() {
  if (!installed()) throw Error(ErrorKind::internal, "python_mixer.cpp", "this program has no bridge to Python");
  return *installed();
}

// Entries live as long as the process, because configurations point at them.
std::map<std::string, std::unique_ptr<MixerEntry>>& registry() {
  static std::map<std::string, std::unique_ptr<MixerEntry>> entries;
  return entries;
}

void require_at_hand(const PythonClass& python) {
  if (!python.folder.empty()) return;
  throw Error(ErrorKind::data, python.name.canonical(),
              fmt::format("the version {} of its source is not on this machine, expected it in {} or in the run's "
                          "directory; a changed file is another mixer",
                          python.source, python_store().string()));
}

template <typename Find>
Json fact(const PythonClass& python, const char* kind, const Json& details, Find find) {
  require_at_hand(python);
  const Json key = {{"kind", kind}, {"class", python.name.canonical()}, {"source", python.source}, {"of", details}};
  const std::string hash = sha256_hex(canonical(key)).substr(0, 24);
  Json known = remembered_fact(hash);
  if (known.is_null()) {
    known = find();
    remember_fact(hash, known);
  }
  return known;
}

Json measured(const std::shared_ptr<const PythonClass>& python, const MixerContext& at, const Options& options) {
  // Layers differ only for a class that asks which one it is.
  const bool by_layer = python->declaration.value("takes_layer", false);
  const Json details = {{"width", at.width},
                        {"length", at.length},
                        {"layer", by_layer ? at.layer : 0},
                        {"options", python->arguments(options)}};
  return fact(*python, "measure", details, [&] { return asked().measure(*python, at, options.values()); });
}

bool knows_order(const PythonClass& python, const Options& options) {
  const Json said = python.declaration.value("knows_order", Json());
  // Without its source nothing can be tried; a stored configuration says itself which positions it has.
  if (said.is_boolean() || python.folder.empty()) return said.is_boolean() ? said.get<bool>() : true;
  return fact(python, "order", python.arguments(options), [&] { return asked().try_order(python, options.values()); })
      .at("knows_order");
}

MixerEntry entry_of(PythonClass found) {
  const auto python = std::make_shared<const PythonClass>(std::move(found));
  return {
      .name = python->name.canonical(),
      .family = "Python",
      .summary = python->declaration.value("summary", ""),
      .citation = fmt::format("the class {} of {}, version {}", python->name.class_name, python->name.file.string(),
                              python->source),
      .options = python->options(),
      .parameters =
          [python](const MixerContext& at, const Options& options) {
            return measured(python, at, options).at("parameters").get<std::int64_t>();
          },
      .state = [python](
                   const MixerContext& at,
                   const Options& options) { return measured(python, at, options).at("state").get<std::int64_t>(); },
      .flops = [python](const MixerContext& at,
                        const Options& options) { return measured(python, at, options).at("flops").get<double>(); },
      .knows_order = [python](const Options& options) { return knows_order(*python, options); },
      .causal = [python](const Options&) { return python->declaration.value("causal", true); },
      .validate = [](const MixerContext&, const Options&) {},
      .output_flops = nullptr,
      .python = python,
  };
}

const MixerEntry& registered(PythonClass python) {
  const std::string key = python.name.canonical() + ":" + python.source;
  auto& place = registry()[key];
  if (!place) place = std::make_unique<MixerEntry>(entry_of(std::move(python)));
  return *place;
}

void require_own_table(const PythonName& name, std::string_view origin) {
  for (const auto* catalog : {&mixer_catalog(), &state_mixer_catalog()})
    for (const MixerEntry& entry : *catalog)
      if (entry.name == name.class_name)
        throw Error(
            ErrorKind::usage, origin,
            fmt::format("the class {} has the name of a mixer of the catalog, expected another: [model.{}] would "
                        "be the options of both",
                        name.canonical(), name.class_name));
}

// "dir/study.toml:3:10" -> "dir".
Path folder_of(std::string_view origin) {
  const auto parts = split(origin, ':');
  return parts.size() == 3 ? Path(parts[0]).parent_path() : Path();
}

Path located(const PythonName& name, std::string_view origin) {
  const Path beside = folder_of(origin) / name.file;
  std::error_code ignored;
  for (const Path& place : {beside, name.file})
    if (fs::is_regular_file(place, ignored)) return place;
  std::vector<std::string> looked;
  for (const Path& place : {beside, name.file})
    if (looked.empty() || looked.back() != place.string()) looked.push_back(place.string());
  throw Error(ErrorKind::data, origin,
              fmt::format("no Python file {}, expected one with the class {}", join(looked, " or "), name.class_name));
}

PythonClass described(const PythonName& name, const Path& file) {
  if (const auto source = unchanged_source(file, name.class_name))
    if (auto python = stored_class(name, *source)) return std::move(*python);
  const Json description = asked().describe(file, name.class_name);
  auto python = stored_class(name, description.at("source"));
  require(python.has_value(), "a class that was described is in the store");
  return std::move(*python);
}

std::string written_source(const ConfigValue* model, const PythonName& name) {
  const ConfigValue* table = model ? model->find(name.class_name) : nullptr;
  const ConfigValue* source = table && table->is_table() ? table->find("source") : nullptr;
  const auto* text = source ? std::get_if<std::string>(&source->value) : nullptr;
  return text ? *text : "";
}

// Of a run whose source is gone: its options are those that are written, each with the type that it has.
PythonClass from_values(const PythonName& name, const std::string& source, const ConfigValue& table) {
  Json arguments = Json::array();
  const Json values = config_to_json(table);
  for (const auto& [key, value] : values.items()) {
    if (key == "source" || key == "init_by") continue;
    const Json& one = value.is_array() && !value.empty() ? value.front() : value;
    std::string type = one.is_boolean()          ? "flag"
                       : one.is_number_integer() ? "integer"
                       : one.is_number()         ? "real"
                                                 : "text";
    if (value.is_array()) type += "s";
    arguments.push_back({{"name", key}, {"type", type}});
  }
  return {{name.file.filename(), name.class_name}, source, "", {{"arguments", arguments}, {"source", source}}};
}

}  // namespace

const std::string& MixerEntry::table() const { return python ? python->name.class_name : name; }

void use_python_mixers(std::shared_ptr<PythonMixers> mixers) { installed() = std::move(mixers); }

const MixerEntry& find_python_mixer(std::string_view text, const ConfigValue* model, std::string_view origin) {
  const PythonName name = parse_python_name(text, origin);
  require_own_table(name, origin);
  const std::string source = written_source(model, name);
  if (source.empty()) return registered(described(name, located(name, origin)));
  if (const auto known = registry().find(name.canonical() + ":" + source); known != registry().end())
    return *known->second;
  if (auto python = stored_class(name, source)) return registered(std::move(*python));
  // The store was emptied: the file may still be the same.
  std::error_code ignored;
  if (fs::is_regular_file(name.file, ignored))
    if (PythonClass python = described(name, name.file); python.source == source) return registered(std::move(python));
  return registered(from_values(name, source, *model->find(name.class_name)));
}

std::vector<const MixerEntry*> python_mixers() {
  std::vector<const MixerEntry*> entries;
  for (const auto& [key, entry] : registry()) entries.push_back(entry.get());
  return entries;
}

}  // namespace mneme::catalog
