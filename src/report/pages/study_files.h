// Finding studies by name.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/files.h"
#include "study/study.h"

namespace mneme::report {

struct FoundStudy {
  Path file;  // where it is, or would be, for one that is compiled in
  study::StudyOutline outline;
  std::string trouble;  // why it cannot be read
};

// Every *.toml under ./studies, and those that are compiled in (study/shipped.h), by name. A file goes before the
// compiled-in study of the same name.
std::vector<FoundStudy> list_studies();

// A path to a file, or the name of a study that list_studies() finds ("demo", "recall/fig1"). Throws Error(usage) with
// the nearest name. Its figures are checked, too.
study::Study open_study(const std::string& name_or_path, const study::StudyOptions& options);

}  // namespace mneme::report
