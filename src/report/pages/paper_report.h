// A whole paper on one page: a summary of all its figures and tables, and a section for each.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "report/claims/reproduction_state.h"
#include "report/pages/html.h"

namespace mneme::report {

// One line an item: runs done and needed, claims by verdict.
Table paper_summary(std::span<const ReproductionState> states);

// `states` are the items in the order of the page; with `results`, a directory of kept results, the
// same claims at other scales are shown next to them. None of them is required: an item without results says how to get
// them.
ReportPage paper_page(const Paper& paper, const std::string& scale, std::span<const ReproductionState> states,
                      const Path& results = {});

}  // namespace mneme::report
