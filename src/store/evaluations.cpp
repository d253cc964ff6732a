#include "store/evaluations.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "core/error.h"

namespace mneme::store {

void check_evaluation_name(const std::string& name) {
  constexpr std::size_t kLongest = 100;
  const bool plain = std::all_of(name.begin(), name.end(), [](unsigned char c) {
    return std::isalnum(c) || c == '-' || c == '_' || c == '=' || c == '.';
  });
  if (name.empty() || name.size() > kLongest || name.front() == '.' || !plain)
    throw Error(ErrorKind::usage, "--name",
                fmt::format("got '{}', expected up to {} letters, digits, '-', '_', '=' and '.', the last not first",
                            name, kLongest));
}

Path evaluation_file(const RunDirectory& directory, const std::string& name) {
  return directory.path() / "evaluations" / (name + ".json");
}

void save_evaluation(const RunDirectory& directory, const std::string& name, const Json& evaluation) {
  const Path file = evaluation_file(directory, name);
  if (!std::filesystem::exists(file.parent_path())) {
    file_system().create_directories(file.parent_path());
    file_system().sync_directory(directory.path());
  }
  write_file_atomically(file, evaluation.dump(1) + "\n");
  // Who watches a lab looks at the times of run directories (serve/lab_watch.h), which a file in a folder does not
  // change.
  std::error_code unimportant;
  std::filesystem::last_write_time(directory.path(), std::filesystem::file_time_type::clock::now(), unimportant);
}

std::optional<Json> load_evaluation(const RunDirectory& directory, const std::string& name) {
  const Path file = evaluation_file(directory, name);
  if (!std::filesystem::exists(file)) return std::nullopt;
  Json evaluation = parse_json(read_file(file), file.string());
  if (!evaluation.is_object() || !evaluation.contains("asked") || !evaluation.contains("values"))
    throw Error(ErrorKind::data, file.string(), "not an evaluation of Mneme");
  return evaluation;
}

std::vector<std::string> evaluation_names(const RunDirectory& directory) {
  std::vector<std::string> names;
  const Path folder = directory.path() / "evaluations";
  if (!std::filesystem::is_directory(folder)) return names;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().extension() == ".json" && !entry.path().filename().string().starts_with("."))
      names.push_back(entry.path().stem().string());
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace mneme::store
