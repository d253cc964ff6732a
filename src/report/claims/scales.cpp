#include "report/claims/scales.h"

#include <algorithm>

#include "report/pages/kept_results.h"

namespace mneme::report {

std::vector<std::string> kept_scales(const Reproduction& item, const Path& directory) {
  std::vector<std::string> scales;
  if (item.sizes) return scales;
  for (const std::string scale : {"smoke", "laptop", "workstation", "paper"})
    if (std::filesystem::exists(kept_file(directory, item.id, scale))) scales.push_back(scale);
  return scales;
}

Table scale_table(std::span<const ReproductionState> states) {
  Table table{.columns = {{"claim"}}, .rows = {}};
  if (states.size() < 2) return table;
  for (const ReproductionState& state : states) table.columns.push_back({state.study.scale});
  for (std::size_t i = 0; i < states.front().claims().size(); ++i) {
    std::vector<std::string> row{states.front().claims()[i].claim->id};
    bool any = false;
    for (const ReproductionState& state : states) {
      const Judgement& judgement = state.claims()[i].judgement;
      any |= judgement.verdict != Verdict::not_run;
      row.push_back(judgement.verdict_text());
    }
    if (any) table.rows.push_back(std::move(row));
  }
  return table;
}

}  // namespace mneme::report
