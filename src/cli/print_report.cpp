#include "cli/print_report.h"

#include <fmt/format.h>

#include "cli/command.h"
#include "cli/terminal/fit.h"

namespace mneme::cli {

void print_report(const report::StudyReport& report, const report::ReportSubject& subject, bool json) {
  if (json) {
    Json files = Json::array(), figures = Json::array(), claims = Json::array(), inspections = Json::array();
    for (const report::ReportSection& overview : subject.inspections.overview)
      for (const report::ReportTable& table : overview.tables)
        for (const report::Record& record : table.records) inspections.push_back(Json(record));
    for (const report::JudgedClaim& one : subject.claims) claims.push_back(report::claim_json(one));
    for (const Path& file : report.files) files.push_back(file.string());
    for (std::size_t i = 0; i < report.figures.size(); ++i) {
      figures.push_back({{"kind", subject.figures[i].kind->name}, {"findings", report.figures[i].findings}});
      figures.back().update(report.figures[i].data);
    }
    print_json({{"title", subject.title},
                {"scale", subject.scale},
                {"runs", report.runs},
                {"planned", subject.planned},
                {"page", report.page.string()},
                {"files", files},
                {"messages", report.messages},
                {"figures", figures},
                {"claims", claims},
                {"inspections", inspections}});
    return;
  }
  fmt::print("{}\n", subject.title);
  for (const report::FigureReport& figure : report.figures) {
    for (const report::ReportTable& table : figure.tables)
      if (!table.folded) {
        fmt::print("\n{}", fit(table.table));
        if (!table.note.empty()) fmt::print("{}\n", fit(table.note, 0));
      }
    if (!figure.findings.empty()) fmt::print("\n");
    for (const std::string& finding : figure.findings) fmt::print("{}\n", fit(finding));
  }
  if (!subject.claims.empty()) fmt::print("\n");
  for (const report::JudgedClaim& one : subject.claims)
    fmt::print("{:16}{}\n", report::verdict_name(one.judgement.verdict),
               fit(fmt::format("{} ({}, {}){}{}", one.claim->statement, one.claim->id, one.claim->where,
                               one.judgement.reason.empty() ? "" : ": " + one.judgement.reason,
                               one.judgement.numbers.empty()
                                   ? ""
                                   : fmt::format(": {} [{}]", one.judgement.numbers, one.judgement.size)),
                   16));
  for (const report::ReportSection& overview : subject.inspections.overview) {
    fmt::print("\n{}\n", overview.title);
    for (const report::ReportTable& table : overview.tables)
      if (!table.folded) fmt::print("{}", fit(table.table));
    for (const std::string& finding : overview.findings) fmt::print("{}\n", fit(finding));
  }
  if (report.runs < subject.planned) fmt::print("{} of {} runs have finished\n", report.runs, subject.planned);
  for (const std::string& message : report.messages) print_note(message);
  fmt::print("\nreport  {}\nfiles   {}\n", report.page.string(), report.directory.string());
}

}  // namespace mneme::cli
