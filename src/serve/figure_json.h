// Figures and claims as answers hold them.
#pragma once

#include <string>
#include <vector>

#include "report/claims/claims.h"
#include "report/figures/kinds.h"
#include "report/pages/table.h"

namespace mneme::serve {

// {"columns": [text], "rows": [[text]]}
Json table_json(const report::Table& table);

// One entry a figure: name, kind, title, caption, spec; the first of a kind also has its tables and findings.
Json figures_json(const std::vector<report::FigureReport>& reports, const std::vector<report::FigureRequest>& requests,
                  const std::string& title);

Json claims_json(const std::vector<report::JudgedClaim>& claims);

}  // namespace mneme::serve
