// What `mneme inspect` can look at. The worker joins each that needs the model to a function (inspect/list.h), the
// report joins all to their figures.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace mneme::catalog {

struct AnalysisEntry {
  std::string name;
  std::string title;    // of its section
  std::string summary;  // one line, for --help
  // Reads what the trainer recorded (core/autopsy.h): it needs no weights and no worker.
  bool of_the_record = false;
};

const std::vector<AnalysisEntry>& analysis_catalog();
// Throws Error(usage) with the nearest known name.
const AnalysisEntry& find_analysis(std::string_view name, std::string_view origin = "--what");

}  // namespace mneme::catalog
