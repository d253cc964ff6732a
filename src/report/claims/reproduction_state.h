// How far the repetition of a figure or table is: its runs, and what they say of the paper's claims.
#pragma once

#include <string>
#include <vector>

#include "report/claims/claims.h"
#include "report/claims/reproductions.h"
#include "report/pages/study_report.h"
#include "report/pages/table.h"
#include "store/lab.h"
#include "study/study.h"

namespace mneme::report {

struct ReproductionState {
  const Reproduction* item = nullptr;
  study::Study study;
  ReportSubject subject;
  std::vector<ResultRow> rows;  // of runs that the lab or the file has
  std::size_t planned = 0, ended = 0;
  std::size_t kept = 0;         // rows that come from a file
  std::size_t not_planned = 0;  // lines of the file whose runs the study does not plan any more

  const std::vector<JudgedClaim>& claims() const { return subject.claims; }
};

// Throws Error(usage) unless it is a directory: what --results must name.
void require_results(const Path& directory);

// `scale` "" is laptop. `index` is the lab's; nullptr for a lab that does not exist, which has no runs.
ReproductionState state_in_lab(const Reproduction& item, const std::string& scale, const store::Lab& lab,
                               store::Index* index);
// From ID.SCALE.jsonl in a directory (report/stats/result_file.h); a file that is missing has no runs. Throws
// Error(data) for one that is damaged.
ReproductionState state_in_files(const Reproduction& item, const std::string& scale, const Path& directory);

// The lab's runs, and those of the file that the lab has not ended.
ReproductionState state_in_both(const Reproduction& item, const std::string& scale, const store::Lab& lab,
                                store::Index* index, const Path& directory);

// Item, study, scale, runs and judged claims.
Json state_json(const ReproductionState& state);

// One line for each claim that was judged: its verdict, numbers, size and budget.
Table verdict_table(const ReproductionState& state);

// One line for each model of a study, at the sizes of the paper: layers, width, parameters, state.
Table size_table(const study::Study& study);

}  // namespace mneme::report
