#include "catalog/analyses.h"

#include <fmt/format.h>

#include "core/error.h"
#include "core/text.h"

namespace mneme::catalog {

const std::vector<AnalysisEntry>& analysis_catalog() {
  static const std::vector<AnalysisEntry> list{
      {"gradient", "Gradient by lag", "how the gradient of a loss falls with the distance to the token"},
  };
  return list;
}

const AnalysisEntry& find_analysis(std::string_view name, std::string_view origin) {
  std::vector<std::string> names;
  for (const AnalysisEntry& entry : analysis_catalog()) {
    if (entry.name == name) return entry;
    names.push_back(entry.name);
  }
  throw Error(ErrorKind::usage, origin,
              fmt::format("unknown analysis '{}'{}", name, suggestion(std::string(name), names)));
}

}  // namespace mneme::catalog
