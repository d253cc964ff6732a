#include "report/pages/paper_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/text.h"
#include "report/claims/scales.h"
#include "report/pages/study_page.h"

namespace mneme::report {
namespace {

std::string runs_text(const ReproductionState& state) {
  return state.item->sizes ? "none needed" : fmt::format("{} of {}", state.ended, state.planned);
}

std::string heading(const ReproductionState& state) {
  std::vector<std::string> names{state.item->id};
  names.insert(names.end(), state.item->also.begin(), state.item->also.end());
  return fmt::format("{}: {}", join(names, ", "), state.item->sizes ? state.item->what : state.study.title);
}

// Where the runs of an item come from, and what can be typed to have them again.
Facts origin_of(const ReproductionState& state) {
  Facts facts{{"Study", state.item->study}};
  if (state.kept > 0) facts.emplace_back("Results", fmt::format("{} runs from a file of kept results", state.kept));
  facts.emplace_back("Again", fmt::format("mneme reproduce {} --scale {}", state.item->id, state.study.scale));
  return facts;
}

std::vector<ReportSection> item_sections(const ReproductionState& state) {
  ReportSection opening{.title = heading(state), .findings = {}, .figures = {}, .tables = {}, .anchor = state.item->id};
  if (state.item->sizes) {
    opening.tables.push_back(
        {"Sizes", size_table(state.study), "By our formulas, at the sizes of the paper.", false, ""});
    return {opening};
  }
  opening.facts = origin_of(state);
  if (state.ended == 0) {
    opening.findings.push_back(fmt::format("none of its {} runs has ended", state.planned));
    return {opening};
  }
  const std::vector<FigureReport> figures = build_figures(state.rows, state.subject);
  const Facts facts = facts_of(state.rows, state.subject, figures);
  opening.facts.insert(opening.facts.end(), facts.begin(), facts.end());
  std::vector<ReportSection> sections{std::move(opening)};
  for (ReportSection& section : sections_of(state.rows, state.subject, figures)) sections.push_back(std::move(section));
  return sections;
}

}  // namespace

Table paper_summary(std::span<const ReproductionState> states) {
  Table table{.columns = {{"item", Align::left, true},
                          {"runs", Align::right},
                          {"confirmed", Align::right},
                          {"contradicted", Align::right},
                          {"undecided", Align::right},
                          {"not run", Align::right},
                          {"what it shows"}},
              .rows = {}};
  for (const ReproductionState& state : states) {
    std::vector<std::string> row{state.item->id, runs_text(state)};
    for (const Verdict verdict : kVerdicts) {
      const std::size_t count = count_with(state.claims(), verdict);
      row.push_back(count == 0 ? "" : std::to_string(count));
    }
    row.push_back(state.item->what);
    table.rows.push_back(std::move(row));
  }
  return table;
}

ReportPage paper_page(const Paper& paper, const std::string& scale, std::span<const ReproductionState> states,
                      const Path& results) {
  std::size_t ended = 0, planned = 0;
  std::vector<JudgedClaim> claims;
  for (const ReproductionState& state : states) {
    ended += state.ended;
    planned += state.planned;
    claims.insert(claims.end(), state.claims().begin(), state.claims().end());
  }
  ReportPage page{.title = fmt::format("Paper {}: {}", paper.letter, paper.title),
                  .summary = "",
                  .facts = {{"Scale", scale},
                            {"Runs", fmt::format("{} ended, {} planned", ended, planned)},
                            {"Claims", count_verdicts(claims)}},
                  .sections = {},
                  .footer = page_footer()};
  page.sections.emplace_back().tables.push_back(
      {"Figures and tables", paper_summary(states),
       "Claims are judged when the runs that they are about have ended, for this scale only; rules in docs/claims.md.",
       false, ""});
  for (const ReproductionState& state : states) {
    for (ReportSection& section : item_sections(state)) page.sections.push_back(std::move(section));
    std::vector<ReproductionState> others;
    if (!results.empty())
      for (const std::string& other : kept_scales(*state.item, results))
        others.push_back(state_in_files(*state.item, other, results));
    if (const Table table = scale_table(others); !table.rows.empty())
      page.sections.emplace_back().tables.push_back({"Claims at each scale", table,
                                                     "From kept results; a verdict holds for its own size and budget.",
                                                     false, ""});
  }
  return page;
}

}  // namespace mneme::report
