// Finding studies by name.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/files.h"
#include "study/study.h"

namespace mneme {

// The study that `mneme demo` runs, studies/demo.toml; its name is "demo".
extern const std::string_view kDemoStudy;

struct FoundStudy {
  Path file;  // "demo" for the built-in one
  StudyOutline outline;
  std::string trouble;  // why it cannot be read
};

// The built-in study and every *.toml in ./studies and in the installation's studies/, by name.
std::vector<FoundStudy> list_studies();

// A path to a file, or the name of a study that list_studies() finds. Throws Error(usage) with the nearest name.
Study open_study(const std::string& name_or_path, const StudyOptions& options);

}  // namespace mneme
