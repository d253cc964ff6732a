// What `mneme inspect` found, as sections with figures and tables. Torch-free: numbers come from the worker as JSON.
#pragma once

#include <string>
#include <string_view>

#include "report/pages/html.h"

namespace mneme::report {

struct InspectedRun {
  std::string id;
  std::string label;  // "mqar, attention, width 64, 2 layers, lr 1e-3, seed 42"
};

// The section of an analysis of catalog/analyses.h. A result with `skipped` becomes that sentence. Names of figures and
// tables begin with the analysis. Throws Error(data) for a result that cannot be what the analysis gave.
ReportSection inspection_section(std::string_view analysis, const Json& result, const InspectedRun& run);

// One analysis each.
ReportSection render_matrix(const Json& result, const InspectedRun& run);
ReportSection render_patterns(const Json& result, const InspectedRun& run);
ReportSection render_spectra(const Json& result, const InspectedRun& run);
ReportSection render_gradient(const Json& result, const InspectedRun& run);
ReportSection render_interventions(const Json& result, const InspectedRun& run);
ReportSection render_state(const Json& result, const InspectedRun& run);
ReportSection render_autopsy(const Json& result, const InspectedRun& run);

}  // namespace mneme::report
