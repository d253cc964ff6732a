// A small table and the three ways to show it to people; what machines read is in records.h.
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
// A table that is wider than `columns` (0: any width) has its titles and cells broken at spaces; where that is not
// enough it becomes a list: a block of lines per row, one line per column.
std::string to_text(const Table& table, std::size_t columns = 0);

// Broken at spaces into lines of at most `width` code points, as far as its words allow.
std::vector<std::string> broken(const std::string& text, std::size_t width);

// <table>...</table>, every cell escaped.
std::string to_html(const Table& table);

// A booktabs tabular, every cell escaped.
std::string to_latex(const Table& table);

// Makes text inert in HTML, in element content and in quoted attributes.
std::string escape_html(std::string_view text);

}  // namespace mneme::report
