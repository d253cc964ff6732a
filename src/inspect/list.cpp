#include "inspect/list.h"

#include <fmt/format.h>

#include "core/error.h"

namespace mneme::inspect {
namespace {

struct NamedAnalysis {
  std::string_view name;
  Analysis function;
};

// The one list that joins functions to the catalog.
constexpr NamedAnalysis kAnalyses[] = {
    {"matrix", mixing_matrix},     {"patterns", pattern_scores},     {"spectra", spectra},
    {"gradient", gradient_by_lag}, {"interventions", interventions}, {"state", state_probes},
};

}  // namespace

Analysis analysis_function(std::string_view name) {
  for (const NamedAnalysis& analysis : kAnalyses)
    if (analysis.name == name) return analysis.function;
  throw Error(ErrorKind::internal, "inspect/list.cpp", fmt::format("'{}' is in the catalog but has no function", name));
}

Json skipped(std::string_view why) { return {{"skipped", why}}; }

}  // namespace mneme::inspect
