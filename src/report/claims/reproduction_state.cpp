#include "report/claims/reproduction_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "core/error.h"
#include "core/files.h"
#include "core/text.h"
#include "report/pages/kept_results.h"
#include "report/pages/study_files.h"
#include "report/stats/result_file.h"

namespace mneme::report {
namespace {

ReproductionState begin(const Reproduction& item, const std::string& scale) {
  ReproductionState state;
  state.item = &item;
  const std::string chosen = item.sizes ? "paper" : scale.empty() ? std::string(study::kDefaultScale) : scale;
  state.study = open_study(item.study, {chosen, {}});
  state.subject = subject_of(state.study);
  state.planned = item.sizes ? 0 : state.study.runs.size();
  return state;
}

void finish(ReproductionState& state) {
  state.ended = static_cast<std::size_t>(std::count_if(state.rows.begin(), state.rows.end(), is_result));
  if (!state.item->sizes) state.subject.claims = judge_claims(state.item->study, state.rows, state.study.runs);
}

void add_lab(ReproductionState& state, const store::Lab& lab, store::Index* index) {
  if (state.item->sizes || index == nullptr) return;
  StudyContent content = collect_study(state.study, *index, lab);
  state.subject = std::move(content.subject);
  state.rows = std::move(content.rows);
}

// The rows of the file whose runs are not among the results that there are.
void add_file(ReproductionState& state, const Path& directory) {
  const Path file = kept_file(directory, state.item->id, state.study.scale);
  if (state.item->sizes || !std::filesystem::exists(file)) return;
  std::set<std::string> ended;
  for (const ResultRow& row : state.rows)
    if (is_result(row)) ended.insert(row.run);
  KeptResults kept = read_results(read_file(file), file.string(), state.study.runs);
  state.not_planned = kept.not_planned;
  for (ResultRow& row : kept.rows) {
    if (ended.contains(row.run)) continue;
    std::erase_if(state.rows, [&](const ResultRow& begun) { return begun.run == row.run; });
    state.rows.push_back(std::move(row));
    ++state.kept;
  }
}

}  // namespace

void require_results(const Path& directory) {
  if (!std::filesystem::is_directory(directory))
    throw Error(ErrorKind::usage, "--results",
                fmt::format("'{}' is not a directory, expected one with kept results", directory.string()));
}

ReproductionState state_in_lab(const Reproduction& item, const std::string& scale, const store::Lab& lab,
                               store::Index* index) {
  ReproductionState state = begin(item, scale);
  add_lab(state, lab, index);
  finish(state);
  return state;
}

ReproductionState state_in_files(const Reproduction& item, const std::string& scale, const Path& directory) {
  ReproductionState state = begin(item, scale);
  add_file(state, directory);
  finish(state);
  return state;
}

ReproductionState state_in_both(const Reproduction& item, const std::string& scale, const store::Lab& lab,
                                store::Index* index, const Path& directory) {
  ReproductionState state = begin(item, scale);
  add_lab(state, lab, index);
  add_file(state, directory);
  finish(state);
  return state;
}

Json state_json(const ReproductionState& state) {
  Json claims = Json::array();
  for (const JudgedClaim& one : state.claims()) claims.push_back(claim_json(one));
  return {{"item", state.item->id},
          {"also", state.item->also},
          {"study", state.item->study},
          {"scale", state.study.scale},
          {"what", state.item->what},
          {"planned", state.planned},
          {"ended", state.ended},
          {"kept", state.kept},
          {"not_planned", state.not_planned},
          {"claims", claims}};
}

Table verdict_table(const ReproductionState& state) {
  Table table{.columns = {{"claim"}, {"verdict"}, {"numbers"}, {"size and budget"}}, .rows = {}};
  for (const JudgedClaim& one : state.claims())
    if (one.judgement.verdict != Verdict::not_run)
      table.rows.push_back({one.claim->id, one.judgement.verdict_text(), one.judgement.numbers, one.judgement.size});
  return table;
}

Table size_table(const study::Study& study) {
  Table table{.columns = {{"mixer"},
                          {"layers", Align::right},
                          {"width", Align::right},
                          {"parameters", Align::right},
                          {"state", Align::right}},
              .rows = {}};
  std::set<std::vector<std::string>> told;
  for (const config::RunConfig& run : study.runs) {
    const std::vector<std::string> row = {run.model.text("mixer"), std::to_string(run.model.integer("layers")),
                                          std::to_string(run.model.integer("width")), grouped(run.parameters()),
                                          grouped(run.state())};
    if (told.insert(row).second) table.rows.push_back(row);
  }
  return table;
}

}  // namespace mneme::report
