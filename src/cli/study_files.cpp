#include "cli/study_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "core/error.h"
#include "core/text.h"
#include "report/kinds.h"

namespace mneme {
namespace {

namespace fs = std::filesystem;

// Where a program built in build/<preset>/ or installed in bin/ finds its studies.
std::vector<Path> study_directories() {
  std::error_code ignored;
  const Path program = fs::read_symlink("/proc/self/exe", ignored).parent_path();
  return {"studies", program / "../../studies", program / "../share/mneme/studies"};
}

std::vector<Path> study_files() {
  std::vector<Path> files;
  std::set<std::string> names{"demo"};  // the built-in one is the same
  for (const Path& directory : study_directories()) {
    std::error_code ignored;
    std::vector<Path> here;
    for (const auto& entry : fs::directory_iterator(directory, ignored))
      if (entry.path().extension() == ".toml") here.push_back(entry.path().lexically_normal());
    std::sort(here.begin(), here.end());
    for (const Path& file : here)
      if (names.insert(file.stem().string()).second) files.push_back(file);
  }
  return files;
}

// The figures are checked with the rest of the file, before anything is run.
Study checked(Study study) {
  figure_requests(study.figures);
  return study;
}

}  // namespace

std::vector<FoundStudy> list_studies() {
  std::vector<FoundStudy> found{{"demo", outline_study(kDemoStudy, "demo"), ""}};
  for (const Path& file : study_files()) {
    try {
      found.push_back({file, outline_study(read_file(file), file), ""});
    } catch (const Error& error) {
      found.push_back({file, {}, error.what()});
    }
  }
  return found;
}

Study open_study(const std::string& name_or_path, const StudyOptions& options) {
  const bool is_path = name_or_path.find('/') != name_or_path.npos || name_or_path.ends_with(".toml");
  if (is_path || fs::is_regular_file(name_or_path)) return checked(load_study(name_or_path, options));
  if (name_or_path == "demo") return checked(parse_study(kDemoStudy, "demo", options));
  std::vector<std::string> known{"demo"};
  for (const Path& file : study_files()) {
    if (file.stem() == name_or_path) return checked(load_study(file, options));
    known.push_back(file.stem().string());
  }
  throw Error(ErrorKind::usage, "study",
              fmt::format("unknown study '{}'{}", name_or_path, suggestion(name_or_path, known)));
}

}  // namespace mneme
