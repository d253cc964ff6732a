// What `mneme inspect` can look at. The worker joins each to a function (inspect/list.h), the report to its figures.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace mneme::catalog {

struct AnalysisEntry {
  std::string name;
  std::string title;    // of its section
  std::string summary;  // one line, for --help
};

const std::vector<AnalysisEntry>& analysis_catalog();
// Throws Error(usage) with the nearest known name.
const AnalysisEntry& find_analysis(std::string_view name, std::string_view origin = "--what");

}  // namespace mneme::catalog
