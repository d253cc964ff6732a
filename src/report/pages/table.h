// A small table and the four ways to print it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace mneme::report {

enum class Align { left, right };

struct Column {
  std::string title;
  Align align = Align::left;
  bool links = false;  // in HTML: each cell leads to the section of a page that it names
};

struct Table {
  std::vector<Column> columns;
  std::vector<std::vector<std::string>> rows;  // each as long as columns
};

// Tables with the same columns as one; if there are several, each line is led by the name of its part.
struct TablePart {
  std::string name;
  Table table;
};
Table stacked(std::string_view title, const std::vector<TablePart>& parts);

// Aligned columns under a rule, for a terminal. Widths count code points, so "≥" is one column;
// control characters in cells are shown as "?", so that stored text cannot drive the terminal.
std::string to_text(const Table& table);

// <table>...</table>, every cell escaped.
std::string to_html(const Table& table);

// RFC 4180: comma-separated, CRLF, cells quoted where needed, first line the titles.
std::string to_csv(const Table& table);

// A booktabs tabular, every cell escaped.
std::string to_latex(const Table& table);

// Makes text inert in HTML, in element content and in quoted attributes.
std::string escape_html(std::string_view text);

}  // namespace mneme::report
