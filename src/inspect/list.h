// The analyses of `mneme inspect`: each a function from a model and examples to numbers.
#pragma once

#include <string_view>

#include "core/json.h"
#include "inspect/subject.h"

namespace mneme::inspect {

// The numbers of one analysis: what docs/inspect.md says of its name. A member `skipped` (text) says why it does not
// apply to this model; then there is nothing else.
using Analysis = Json (*)(const Subject& subject, const Examples& examples);

// Of catalog/analyses.h by name; throws Error(internal) for one that has no function.
Analysis analysis_function(std::string_view name);

Json skipped(std::string_view why);

Json mixing_matrix(const Subject& subject, const Examples& examples);
Json pattern_scores(const Subject& subject, const Examples& examples);
Json spectra(const Subject& subject, const Examples& examples);
Json gradient_by_lag(const Subject& subject, const Examples& examples);
Json interventions(const Subject& subject, const Examples& examples);
Json state_probes(const Subject& subject, const Examples& examples);

}  // namespace mneme::inspect
