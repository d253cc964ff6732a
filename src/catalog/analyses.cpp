#include "catalog/analyses.h"

#include <fmt/format.h>

#include "core/error.h"
#include "core/text.h"

namespace mneme::catalog {

const std::vector<AnalysisEntry>& analysis_catalog() {
  static const std::vector<AnalysisEntry> list{
      {"matrix", "Mixing matrices", "exactly how much each earlier token contributes to a mixer's output"},
      {"patterns", "Where mixers look",
       "how much weight falls on the previous token, the token itself, the one after its last occurrence, the queried "
       "value and its key"},
      {"spectra", "Spectra", "eigenvalues and half-lives of the state transitions"},
      {"gradient", "Gradient by lag", "how the gradient of a loss falls with the distance to the token"},
      {"interventions", "Interventions: which site carries a pair",
       "which part of the model carries a key or a value to the answer, and by what circuit"},
      {"state", "What the state holds", "bits about the pairs read so far that a linear probe finds in the state"},
      {"autopsy", "Autopsy: the last steps of training", "which group of parameters was the first to leave its band",
       true},
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
