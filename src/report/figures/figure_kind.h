// A kind of figure: what `[figure] kind = "..."` of a study can ask for.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/schema.h"
#include "report/pages/html.h"
#include "report/stats/rows.h"
#include "study/paper.h"

namespace mneme::report {

// What a figure says in addition to its rows.
struct FigureSubject {
  std::string name;  // of files
  std::string title;
  std::string scale;             // "laptop", "workstation", ...; may be empty
  std::optional<double> chance;  // accuracy of guessing, if it is the same for all runs
  std::span<const study::PaperValue> paper;
};

struct FigureReport {
  std::vector<ReportFigure> figures;
  std::vector<ReportTable> tables;
  std::vector<std::string> findings;                       // a sentence each, without a full stop
  std::vector<std::pair<std::string, std::string>> rules;  // what was decided how: "Window" -> "a rate is in ..."
  Json data = Json::object();                              // the numbers, for `mneme report --json`
};

struct FigureKind {
  std::string name;
  std::string summary;  // what it draws, one line
  Schema options;       // of [figure], without `kind`
  // What the builder reads of a run in addition to its configuration and accuracies.
  bool needs_traces = false;
  // Throws Error(data) naming the run for rows that cannot be what a run left. Equal rows in any order give equal
  // bytes.
  FigureReport (*build)(std::span<const ResultRow> rows, const FigureSubject& subject,
                        const Options& options) = nullptr;
};

// Fields that several kinds have.
Field title_field();
Field threshold_field(std::string help);
Field panels_field(Json fallback);
Field marks_field();

// The figure's own title, or the study's.
std::string figure_title(const FigureSubject& subject, const Options& options);

}  // namespace mneme::report
