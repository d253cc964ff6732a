#include "catalog/python_store.h"

#include <unistd.h>

#include <cstdlib>
#include <vector>

#include "core/error.h"
#include "core/hash.h"

namespace mneme::catalog {
namespace {

namespace fs = std::filesystem;

std::vector<Path>& other_places() {
  static std::vector<Path> places;
  return places;
}

// The hash of what was measured with an older program would not be that of its measurement: facts have a version.
constexpr const char* kFacts = "facts-1";

std::optional<Json> read_if_there(const Path& file) {
  std::error_code ignored;
  if (!fs::exists(file, ignored)) return std::nullopt;
  try {
    return parse_json(read_file(file), file.string());
  } catch (const Error&) {
    return std::nullopt;  // damaged: treated as missing, and written again
  }
}

Path list_of_files(const Path& file, const std::string& class_name) {
  std::error_code ignored;
  const std::string absolute = fs::weakly_canonical(file, ignored).string();
  return python_store() / "paths" / (sha256_hex(absolute + ":" + class_name).substr(0, 16) + ".json");
}

void write_in_new_folder(const Path& path, std::string_view text) {
  file_system().create_directories(path.parent_path());
  write_file_atomically(path, text);
}

}  // namespace

Path python_store() {
  const auto variable = [](const char* name) -> Path {
    const char* value = std::getenv(name);
    return value && *value ? value : "";
  };
  if (const Path chosen = variable("MNEME_CACHE"); !chosen.empty()) return chosen / "python";
  if (const Path cache = variable("XDG_CACHE_HOME"); !cache.empty()) return cache / "mneme" / "python";
  if (const Path home = variable("HOME"); !home.empty()) return home / ".cache" / "mneme" / "python";
  return fs::temp_directory_path() / ("mneme-" + std::to_string(::getuid())) / "python";
}

void also_look_in(const Path& place) { other_places().push_back(place); }

std::optional<PythonClass> stored_class(const PythonName& name, const std::string& source) {
  std::vector<Path> places{python_store()};
  places.insert(places.end(), other_places().rbegin(), other_places().rend());
  for (const Path& place : places) {
    const Path folder = place / source / "files";
    std::error_code ignored;
    if (!fs::exists(folder / name.file.filename(), ignored)) continue;
    if (auto declaration = read_if_there(place / source / (name.class_name + ".json")))
      return PythonClass{{name.file.filename(), name.class_name}, source, folder, std::move(*declaration)};
  }
  return std::nullopt;
}

void store_class(const Path& place, const Json& description, const std::string& class_name) {
  const Path folder = place / description.at("source").get<std::string>();
  std::error_code ignored;
  // Its names are hashes of its contents: what is there is right. The declaration comes last, so a half is none.
  if (fs::exists(folder / (class_name + ".json"), ignored)) return;
  for (const auto& [name, text] : description.at("files").items())
    write_in_new_folder(folder / "files" / name, text.get<std::string>());
  Json declaration = description;
  declaration.erase("files");
  write_in_new_folder(folder / (class_name + ".json"), declaration.dump(2) + "\n");
}

void keep_class(const PythonClass& python, const Path& place) {
  std::error_code ignored;
  if (python.folder.empty() || fs::equivalent(python.folder, place / python.source / "files", ignored)) return;
  Json description = python.declaration;
  description["files"] = Json::object();
  for (const auto& entry : fs::recursive_directory_iterator(python.folder))
    if (entry.is_regular_file())
      description["files"][fs::relative(entry.path(), python.folder).generic_string()] = read_file(entry.path());
  store_class(place, description, python.name.class_name);
}

std::optional<std::string> unchanged_source(const Path& file, const std::string& class_name) {
  const auto list = read_if_there(list_of_files(file, class_name));
  if (!list) return std::nullopt;
  std::error_code ignored;
  for (const auto& [path, hash] : list->at("files").items())
    if (!fs::exists(path, ignored) || Json(sha256_hex(read_file(path))) != hash) return std::nullopt;
  return list->at("source").get<std::string>();
}

void remember_files(const Path& file, const std::string& class_name, const Json& description) {
  Json hashes = Json::object();
  const Path folder = fs::absolute(file).parent_path();
  for (const auto& [name, text] : description.at("files").items())
    hashes[(folder / name).lexically_normal().string()] = sha256_hex(text.get<std::string>());
  write_in_new_folder(list_of_files(file, class_name),
                      Json({{"source", description.at("source")}, {"files", hashes}}).dump(2) + "\n");
}

Json remembered_fact(const std::string& key) {
  return read_if_there(python_store() / kFacts / (key + ".json")).value_or(Json());
}

void remember_fact(const std::string& key, const Json& value) try {
  write_in_new_folder(python_store() / kFacts / (key + ".json"), value.dump() + "\n");
} catch (const Error&) {
  // It is found out again the next time.
}

}  // namespace mneme::catalog
