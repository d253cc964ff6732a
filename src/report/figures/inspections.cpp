#include "report/figures/inspections.h"

#include <fmt/format.h>

#include "catalog/analyses.h"
#include "core/error.h"

namespace mneme::report {
namespace {

struct NamedRendering {
  std::string_view name;
  ReportSection (*render)(const Json& result, const InspectedRun& run);
};

// The one list that joins figures to the catalog.
constexpr NamedRendering kRenderings[] = {
    {"matrix", render_matrix},     {"patterns", render_patterns},           {"spectra", render_spectra},
    {"gradient", render_gradient}, {"interventions", render_interventions}, {"state", render_state},
    {"autopsy", render_autopsy},
};

}  // namespace

ReportSection inspection_section(std::string_view analysis, const Json& result, const InspectedRun& run) {
  const std::string title = catalog::find_analysis(analysis, "analysis").title;
  for (const NamedRendering& rendering : kRenderings) {
    if (rendering.name != analysis) continue;
    ReportSection section;
    try {
      if (result.contains("skipped"))
        section.findings.push_back("Does not apply: " + result["skipped"].get<std::string>());
      else
        section = rendering.render(result, run);
    } catch (const Json::exception& error) {
      throw Error(ErrorKind::data, fmt::format("inspection of run {}", run.id),
                  fmt::format("'{}' is not what this version writes: {}", analysis, error.what()));
    }
    section.title = title;
    return section;
  }
  throw Error(ErrorKind::internal, "report/figures/inspections.cpp",
              fmt::format("'{}' is in the catalog but is not rendered", analysis));
}

}  // namespace mneme::report
