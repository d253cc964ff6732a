#include "cli/reproduction_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "cli/study_files.h"
#include "core/files.h"
#include "core/text.h"
#include "report/result_file.h"

namespace mneme {
namespace {

ReproductionState begin(const Reproduction& item, const std::string& scale) {
  ReproductionState state;
  state.item = &item;
  const std::string chosen = item.sizes ? "paper" : scale.empty() ? std::string(kDefaultScale) : scale;
  state.study = open_study(item.study, {chosen, {}});
  state.subject = subject_of(state.study);
  state.planned = item.sizes ? 0 : state.study.runs.size();
  return state;
}

void finish(ReproductionState& state) {
  state.ended = static_cast<std::size_t>(std::count_if(state.rows.begin(), state.rows.end(), is_result));
  if (state.item->sizes) return;
  for (const Claim* claim : claims_about(state.item->study))
    state.claims.push_back({claim, judge(*claim, state.rows, state.planned)});
}

}  // namespace

ReproductionState state_in_lab(const Reproduction& item, const std::string& scale, const Lab& lab, Index* index) {
  ReproductionState state = begin(item, scale);
  if (!item.sizes && index != nullptr) {
    state.rows = rows_of(state.study, state.subject.figures, *index, lab);
    state.subject.environments = environments_of(state.rows, lab);
  }
  finish(state);
  return state;
}

ReproductionState state_in_files(const Reproduction& item, const std::string& scale, const Path& directory) {
  ReproductionState state = begin(item, scale);
  const Path file = directory / fmt::format("{}.{}.jsonl", item.id, state.study.scale);
  if (!item.sizes && std::filesystem::exists(file))
    state.rows = read_results(read_file(file), file.string(), state.study.runs);
  finish(state);
  return state;
}

Table size_table(const Study& study) {
  Table table{.columns = {{"mixer"},
                          {"layers", Align::right},
                          {"width", Align::right},
                          {"parameters", Align::right},
                          {"state", Align::right}},
              .rows = {}};
  std::set<std::vector<std::string>> told;
  for (const RunConfig& run : study.runs) {
    const std::vector<std::string> row = {run.model.text("mixer"), std::to_string(run.model.integer("layers")),
                                          std::to_string(run.model.integer("width")), grouped(run.parameters()),
                                          grouped(run.state())};
    if (told.insert(row).second) table.rows.push_back(row);
  }
  return table;
}

}  // namespace mneme
