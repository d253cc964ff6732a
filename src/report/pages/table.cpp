#include "report/pages/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "core/error.h"

namespace mneme::report {
namespace {

void check_shape(const Table& table) {
  for (const auto& row : table.rows) require(row.size() == table.columns.size(), "a table row as long as the header");
}

std::string latex_cell(const std::string& text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '&':
      case '%':
      case '$':
      case '#':
      case '_':
      case '{':
      case '}': result += {'\\', c}; break;
      case '\\': result += "\\textbackslash{}"; break;
      case '~': result += "\\textasciitilde{}"; break;
      case '^': result += "\\textasciicircum{}"; break;
      default: result += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
  }
  return result;
}

std::vector<std::string> titles(const Table& table) {
  std::vector<std::string> result;
  for (const Column& column : table.columns) result.push_back(column.title);
  return result;
}

std::string joined(const std::vector<std::string>& cells, std::string_view separator,
                   const std::function<std::string(const std::string&)>& escape) {
  std::string line;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (i > 0) line += separator;
    line += escape(cells[i]);
  }
  return line;
}

}  // namespace

Table stacked(std::string_view title, const std::vector<TablePart>& parts) {
  require(!parts.empty(), "a table of at least one part");
  if (parts.size() == 1) return parts.front().table;
  Table whole{.columns = parts.front().table.columns, .rows = {}};
  whole.columns.insert(whole.columns.begin(), {std::string(title), Align::left});
  for (const TablePart& part : parts)
    for (std::vector<std::string> row : part.table.rows) {
      row.insert(row.begin(), part.name);
      whole.rows.push_back(std::move(row));
    }
  check_shape(whole);
  return whole;
}

std::string to_html(const Table& table) {
  check_shape(table);
  // Sentences may be broken; names, numbers and times may not.
  constexpr std::size_t kSentence = 30;
  const auto kind = [&](std::size_t column, const std::string& cell) {
    if (table.columns[column].align == Align::right) return " class=\"number\"";
    return cell.size() > kSentence ? " class=\"sentence\"" : "";
  };
  const auto content = [&](std::size_t column, const std::string& cell, std::string_view tag) {
    const std::string text = escape_html(cell);
    return table.columns[column].links && tag == "td" ? fmt::format("<a href=\"#{0}\">{0}</a>", text) : text;
  };
  const auto line = [&](const std::vector<std::string>& cells, std::string_view tag) {
    std::string html = "<tr>";
    for (std::size_t i = 0; i < cells.size(); ++i)
      html += fmt::format("<{0}{1}>{2}</{0}>", tag, kind(i, cells[i]), content(i, cells[i], tag));
    return html + "</tr>\n";
  };
  std::string html = "<table>\n<thead>\n" + line(titles(table), "th") + "</thead>\n<tbody>\n";
  for (const auto& row : table.rows) html += line(row, "td");
  return html + "</tbody>\n</table>\n";
}

std::string to_latex(const Table& table) {
  check_shape(table);
  std::string columns;
  for (const Column& column : table.columns) columns += column.align == Align::right ? 'r' : 'l';
  std::string latex = fmt::format("\\begin{{tabular}}{{{}}}\n\\toprule\n", columns);
  latex += joined(titles(table), " & ", latex_cell) + " \\\\\n\\midrule\n";
  for (const auto& row : table.rows) latex += joined(row, " & ", latex_cell) + " \\\\\n";
  return latex + "\\bottomrule\n\\end{tabular}\n";
}

std::string escape_html(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  for (const char c : text) {
    switch (c) {
      case '&': result += "&amp;"; break;
      case '<': result += "&lt;"; break;
      case '>': result += "&gt;"; break;
      case '"': result += "&quot;"; break;
      case '\'': result += "&#39;"; break;
      default: result += c;
    }
  }
  return result;
}

}  // namespace mneme::report
