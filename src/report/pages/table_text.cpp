#include <algorithm>
#include <numeric>

#include "core/error.h"
#include "core/text.h"
#include "report/pages/table.h"

namespace mneme::report {
namespace {

using Lines = std::vector<std::vector<std::string>>;

constexpr std::size_t kGap = 2;  // between columns

std::size_t code_points(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(
      text.begin(), text.end(), [](char byte) { return (static_cast<unsigned char>(byte) & 0xC0) != 0x80; }));
}

// C0 controls, DEL and C1 controls (U+0080 to U+009F, two bytes in UTF-8) become "?".
std::string printable(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const bool is_c1 = byte == 0xC2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xA0;
    result += byte < 0x20 || byte == 0x7F || is_c1 ? '?' : text[i];
    if (is_c1) ++i;
  }
  return result;
}

std::string aligned(const std::string& text, std::size_t width, Align align) {
  const std::string space(width - std::min(width, code_points(text)), ' ');
  return align == Align::right ? space + text : text + space;
}

std::size_t longest_word(const std::string& text) {
  std::size_t longest = 0;
  for (const std::string& word : split(text, ' ')) longest = std::max(longest, code_points(word));
  return longest;
}

std::size_t total(const std::vector<std::size_t>& widths) {
  return std::accumulate(widths.begin(), widths.end(), std::size_t{0}) + kGap * (widths.size() - 1);
}

// The widths at which the table has at most `columns`: the widest column gives way first, none below its longest word.
// Nothing if the words alone are wider.
std::vector<std::size_t> narrowed(std::vector<std::size_t> widths, const std::vector<std::size_t>& least,
                                  std::size_t columns) {
  while (total(widths) > columns) {
    std::size_t widest = widths.size();
    for (std::size_t i = 0; i < widths.size(); ++i)
      if (widths[i] > least[i] && (widest == widths.size() || widths[i] > widths[widest])) widest = i;
    if (widest == widths.size()) return {};
    --widths[widest];
  }
  return widths;
}

void add_line(std::string& text, std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  text += line + '\n';
}

// One row of cells, over as many lines as its longest cell needs.
void add_row(std::string& text, const std::vector<std::string>& cells, const std::vector<std::size_t>& widths,
             const std::vector<Column>& columns) {
  std::vector<std::vector<std::string>> parts;
  std::size_t height = 1;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    parts.push_back(broken(cells[i], widths[i]));
    height = std::max(height, parts.back().size());
  }
  for (std::size_t k = 0; k < height; ++k) {
    std::string line;
    for (std::size_t i = 0; i < cells.size(); ++i)
      line += (i > 0 ? std::string(kGap, ' ') : "") +
              aligned(k < parts[i].size() ? parts[i][k] : "", widths[i], columns[i].align);
    add_line(text, line);
  }
}

// A block of lines per row: title and cell of each column.
std::string as_list(const Lines& lines, std::size_t columns) {
  std::size_t titles = 0;
  for (const std::string& title : lines.front()) titles = std::max(titles, code_points(title));
  const std::size_t room = columns > titles + kGap + 10 ? columns - titles - kGap : 10;
  std::string text;
  for (std::size_t row = 1; row < lines.size(); ++row) {
    if (row > 1) text += '\n';
    for (std::size_t i = 0; i < lines[row].size(); ++i) {
      std::string title = lines.front()[i];
      for (const std::string& part : broken(lines[row][i], room)) {
        add_line(text, aligned(title, titles, Align::left) + std::string(kGap, ' ') + part);
        title.clear();
      }
    }
  }
  return text;
}

}  // namespace

std::vector<std::string> broken(const std::string& text, std::size_t width) {
  if (code_points(text) <= width) return {text};
  std::vector<std::string> lines;
  for (const std::string& word : split(text, ' ')) {
    if (lines.empty() || code_points(lines.back()) + 1 + code_points(word) > width)
      lines.push_back(word);
    else
      lines.back() += ' ' + word;
  }
  return lines;
}

std::string to_text(const Table& table, std::size_t columns) {
  Lines lines(1);
  for (const Column& column : table.columns) lines.front().push_back(column.title);
  lines.insert(lines.end(), table.rows.begin(), table.rows.end());
  std::vector<std::size_t> widths(table.columns.size(), 0), least = widths;
  for (auto& line : lines) {
    require(line.size() == widths.size(), "a table row as long as the header");
    for (std::size_t i = 0; i < line.size(); ++i) {
      line[i] = printable(line[i]);
      widths[i] = std::max(widths[i], code_points(line[i]));
      // Numbers stay whole ("99.6 ± 0.2"); their titles may be broken.
      const bool whole = &line != &lines.front() && table.columns[i].align == Align::right;
      least[i] = std::max(least[i], whole ? code_points(line[i]) : longest_word(line[i]));
    }
  }
  if (columns > 0 && !widths.empty() && total(widths) > columns) {
    widths = narrowed(widths, least, columns);
    if (widths.empty()) return as_list(lines, columns);
  }
  std::string text;
  for (std::size_t row = 0; row < lines.size(); ++row) {
    add_row(text, lines[row], widths, table.columns);
    if (row > 0) continue;
    for (std::size_t i = 0; i < widths.size(); ++i) {
      text += i > 0 ? std::string(kGap, ' ') : "";
      for (std::size_t k = 0; k < widths[i]; ++k) text += "─";
    }
    text += '\n';
  }
  return text;
}

}  // namespace mneme::report
