// A report as one HTML file that needs no network, no server and no other file.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/json.h"
#include "report/pages/records.h"
#include "report/pages/table.h"

namespace mneme::report {

struct ReportFigure {
  std::string name;  // of files that the reader saves from the page
  Json specification;
  std::string caption;
};

struct ReportTable {
  std::string title;
  Table table;
  std::string note;
  bool folded = false;   // long lists start closed; they open for printing
  std::string name;      // of its CSV and LaTeX files; "": it has none
  Records records = {};  // what the CSV file holds
};

using Facts = std::vector<std::pair<std::string, std::string>>;  // "Task" -> "MQAR, length 32", ...

struct ReportSection {
  std::string title;                  // "": none
  std::vector<std::string> findings;  // a line each
  std::vector<ReportFigure> figures;
  std::vector<ReportTable> tables;
  std::string anchor = {};  // what links name it by; "": nothing leads here
  Facts facts = {};         // under the title
};

struct ReportPage {
  std::string title;
  std::string summary;  // a sentence or two under the title
  Facts facts;
  std::vector<ReportSection> sections;
  std::string footer;  // version and date; the caller's, so that equal input gives equal bytes
};

// Every string of the page is treated as hostile: markup in it is shown, not obeyed. The page's
// Content-Security-Policy lets it run the one script that it carries (by hash) and load nothing.
std::string render_page(const ReportPage& page);

// JSON that is safe as the text of a <script> element: ASCII, without '<', '>' and '&'.
std::string json_for_script(const Json& value);

}  // namespace mneme::report
