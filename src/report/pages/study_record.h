// What the lab remembers of the studies that were swept in it: studies/NAME.json.
#pragma once

#include <string>
#include <vector>

#include "store/lab.h"
#include "study/study.h"

namespace mneme::report {

struct StudyRecord {
  std::string key;  // the file's name without extension: study::Study::file_name()
  std::string name, title, scale;
  std::vector<std::string> runs;       // ids
  std::vector<std::string> overrides;  // a study with overrides is one of its own
  // The axes of the grid, for each run its values there (null for a field that it has not), and the [figure] tables as
  // they were written. Empty in records of version 0.1.
  std::vector<std::string> fields = {};
  Json points = Json::array();
  Json figures = Json::array();
};

// Runs do not know their study; this is for `mneme status` and `mneme serve` only.
void remember_study(const store::Lab& lab, const study::Study& study);
// By name; files that cannot be read are passed over.
std::vector<StudyRecord> remembered_studies(const store::Lab& lab);

}  // namespace mneme::report
