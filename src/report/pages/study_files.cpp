#include "report/pages/study_files.h"

#include <fmt/format.h>

#include <map>

#include "core/error.h"
#include "core/text.h"
#include "report/figures/kinds.h"
#include "study/shipped.h"

namespace mneme::report {
namespace {

namespace fs = std::filesystem;

const Path kFolder = "studies";

// A study by its name: a file, or the text that is compiled in.
struct Source {
  Path file;
  std::string_view text;  // empty: read the file
  std::string read() const { return text.empty() ? read_file(file) : std::string(text); }
};

std::map<std::string, Source> sources() {
  std::map<std::string, Source> found;
  for (const study::ShippedStudy& study : study::shipped_studies())
    found[std::string(study.name)] = {kFolder / fmt::format("{}.toml", study.name), study.text};
  std::error_code ignored;
  for (const auto& entry : fs::recursive_directory_iterator(kFolder, ignored))
    if (entry.path().extension() == ".toml")
      found[entry.path().lexically_relative(kFolder).replace_extension().generic_string()] = {entry.path(), ""};
  return found;
}

// The figures are checked with the rest of the file, before anything is run.
study::Study checked(study::Study study) {
  figure_requests(study.figures);
  return study;
}

}  // namespace

std::vector<FoundStudy> list_studies() {
  std::vector<FoundStudy> found;
  for (const auto& [name, source] : sources()) {
    try {
      found.push_back({source.file, study::outline_study(source.read(), source.file), ""});
    } catch (const Error& error) {
      found.push_back({source.file, {}, error.what()});
    }
  }
  return found;
}

study::Study open_study(const std::string& name_or_path, const study::StudyOptions& options) {
  if (name_or_path.ends_with(".toml") || fs::is_regular_file(name_or_path))
    return checked(study::load_study(name_or_path, options));
  const std::map<std::string, Source> known = sources();
  if (const auto found = known.find(name_or_path); found != known.end())
    return checked(study::parse_study(found->second.read(), found->second.file, options));
  if (fs::exists(name_or_path))
    throw Error(ErrorKind::usage, "study",
                fmt::format("'{}' is not a file, expected the name of a study or a TOML file", name_or_path));
  std::vector<std::string> names;
  for (const auto& [name, source] : known) names.push_back(name);
  throw Error(ErrorKind::usage, "study",
              fmt::format("unknown study '{}'{}", name_or_path, suggestion(name_or_path, names)));
}

}  // namespace mneme::report
