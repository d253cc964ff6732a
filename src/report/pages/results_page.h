// A page of results in Markdown whose numbers are those of the kept results.
//
// What is between two marks is made from the files in the directory of kept results; marks are comments, so that a
// reader of the page does not see them:
//
//   <!-- verdicts A.fig1 workstation --> ... <!-- end -->   a table: claim, verdict, numbers, size and budget
//   <!-- scales A.fig1 --> ... <!-- end -->                 a table: claims, and their verdicts at each scale that is
//   kept
//   <!-- budgets --> ... <!-- end -->                       a table: what solved runs needed (budgets.h)
//   <!-- cards score --> ... <!-- end -->                  a table: the cards in its folder card; score, beyond, window
//   <!-- n A.fig1 workstation QUERY -->98.3<!-- end -->     one number
//
// A query is a word and conditions on the configuration: "test model.mixer=mamba train.lr=0.001". Words: runs (that
// have ended), planned, claims WORD (how many have that verdict: "claims confirmed"); and, over the runs that fit, at
// the rate that is best on validation: test, validation (mean in per cent), least, most (of the seeds, on test), rate;
// window, decades.
#pragma once

#include <string>
#include <string_view>

#include "core/files.h"

namespace mneme::report {

// The page with everything between marks rewritten. Throws Error(data) naming the mark that cannot be filled.
std::string fill_results_page(std::string_view page, const Path& results);

}  // namespace mneme::report
