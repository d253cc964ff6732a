#include "report/figures/figure_matrix.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/figures/figure_style.h"
#include "report/figures/spec.h"
#include "report/stats/format.h"
#include "report/stats/matrix.h"

namespace mneme::report {
namespace {

constexpr const char* kPass = "#0072B2";
constexpr const char* kFail = "#E8E8E8";
constexpr const char* kDisagrees = "#D55E00";

const char* sign(bool passes) { return passes ? "✓" : "✗"; }

std::string rule_text(const Options& options) {
  const double threshold = 100 * options.real("threshold");
  if (options.is_word("share"))
    return fmt::format("✓: the mean over seeds of the metric is {:.0f} % or more", threshold);
  return fmt::format("✓: at least {:.0f} % of the seeds reach {:.0f} %", 100 * options.real("share"), threshold);
}

bool disagrees(const MatrixCell& cell) { return cell.paper && *cell.paper != cell.passes; }

// More columns than this are drawn narrow, or the figure would be wider than a page.
constexpr std::size_t kWideColumns = 8;
// Characters that a wide column has room for next to its neighbours.
constexpr std::size_t kLongestLine = 12;

Json cell_data(const Matrix& matrix, bool wide) {
  Json data = Json::array();
  for (const auto& [place, cell] : matrix.cells)
    data.push_back({{"model", matrix.models[place.first]},
                    {"column", matrix.columns[place.second]},
                    {"passes", cell.passes},
                    {"sign", sign(cell.passes)},
                    {"mean", wide ? fmt::format("{} {}", sign(cell.passes), format_percent(cell.summary.mean))
                                  : fmt::format("{:.0f}", 100 * cell.summary.mean)},
                    {"summary", summary_text(cell.summary)},
                    {"paper", cell.paper_text.empty() ? "" : "paper " + cell.paper_text},
                    {"paper_sign", cell.paper ? fmt::format("({})", sign(*cell.paper)) : ""},
                    {"differs", disagrees(cell)},
                    {"runs", cell.runs}});
  return data;
}

// Of the labels of columns, which are broken at their commas.
struct LabelLines {
  std::size_t most = 0, longest = 0;
};

LabelLines label_lines(const std::vector<std::string>& columns) {
  LabelLines result;
  for (const std::string& column : columns) {
    std::size_t lines = 0;
    for (std::size_t begin = 0; begin <= column.size(); ++lines) {
      const std::size_t end = std::min(column.find(", ", begin), column.size());
      result.longest = std::max(result.longest, end - begin);
      begin = end + 2;
    }
    result.most = std::max(result.most, lines);
  }
  return result;
}

Json figure_of(const Matrix& matrix, const std::vector<std::string>& lines, const std::string& title) {
  if (matrix.cells.empty()) return empty_figure(title, lines, "no runs yet");
  const bool wide = matrix.columns.size() <= kWideColumns;
  const Json data = cell_data(matrix, wide);
  const bool with_paper = std::any_of(data.begin(), data.end(), [](const Json& cell) { return cell["paper"] != ""; });
  Json figure = figure_head(title, lines);
  Json axis = {{"title", nullptr},      {"orient", "top"}, {"labelFontSize", 11}, {"ticks", false},
               {"labelOverlap", false}, {"domain", false}, {"labelLimit", 320}};
  const LabelLines label = label_lines(matrix.columns);
  if (wide && label.longest <= kLongestLine) {
    // The first of several lines is where a single one would be: the others need room below.
    axis.update({{"labelAngle", 0}, {"labelExpr", "split(datum.label, ', ')"}, {"labelPadding", 14 * label.most - 9}});
  } else {
    axis.update({{"labelAngle", -50}, {"labelAlign", "left"}});
  }
  const Json x =
      field("column", "nominal", {{"scale", {{"domain", matrix.columns}, {"padding", 0.06}}}, {"axis", axis}});
  const Json y = field("model", "nominal",
                       {{"scale", {{"domain", matrix.models}, {"padding", 0.08}}},
                        {"axis", {{"title", nullptr}, {"ticks", false}, {"domain", false}, {"labelLimit", 320}}}});
  const Json text_color = {{"condition", {{"test", "datum.passes"}, {"value", "white"}}}, {"value", kInk}};
  const auto text = [&](const char* name, int size, int dy) -> Json {
    return {{"mark", {{"type", "text"}, {"fontSize", size}, {"dy", dy}}},
            {"encoding", {{"x", x}, {"y", y}, {"text", field(name, "nominal")}, {"color", text_color}}}};
  };
  Json layers = Json::array();
  layers.push_back(
      {{"mark", {{"type", "rect"}, {"cornerRadius", 2}}},
       {"encoding",
        {{"x", x},
         {"y", y},
         {"color", {{"condition", {{"test", "datum.passes"}, {"value", kPass}}}, {"value", kFail}}},
         {"stroke", {{"condition", {{"test", "datum.differs"}, {"value", kDisagrees}}}, {"value", nullptr}}},
         {"strokeWidth", {{"condition", {{"test", "datum.differs"}, {"value", 3}}}, {"value", 0}}},
         {"tooltip", tooltip({{"model", "model"},
                              {"column", "condition"},
                              {"summary", "%"},
                              {"paper", "paper"},
                              {"runs", "runs"}})}}}});
  if (wide) {
    layers.push_back(text("mean", 12, with_paper ? -6 : 0));
    if (with_paper) layers.push_back(text("paper", 9, 9));
  } else {
    layers.push_back(text("sign", 12, with_paper ? -11 : -6));
    layers.push_back(text("mean", 9, with_paper ? 2 : 8));
    if (with_paper) layers.push_back(text("paper_sign", 9, 13));
  }
  figure.update({{"data", {{"values", data}}},
                 {"width", {{"step", wide ? 66 : 30}}},
                 {"height", {{"step", wide ? (with_paper ? 36 : 26) : (with_paper ? 44 : 36)}}},
                 {"layer", layers}});
  return figure;
}

// "✓ 98.8 (paper ✗)".
std::string cell_text(const MatrixCell& cell) {
  const std::string ours = fmt::format("{} {}", sign(cell.passes), format_percent(cell.summary.mean));
  return cell.paper_text.empty() ? ours : fmt::format("{} (paper {})", ours, cell.paper_text);
}

Table table_of(const Matrix& matrix) {
  Table table{.columns = {{"model"}}, .rows = {}};
  for (const std::string& column : matrix.columns) table.columns.push_back({column});
  for (std::size_t model = 0; model < matrix.models.size(); ++model) {
    std::vector<std::string> row{matrix.models[model]};
    for (std::size_t column = 0; column < matrix.columns.size(); ++column) {
      const auto found = matrix.cells.find({model, column});
      row.push_back(found == matrix.cells.end() ? "-" : cell_text(found->second));
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

Records matrix_records(const Matrix& matrix) {
  Records records;
  for (const auto& [place, cell] : matrix.cells) {
    Record& record = records.emplace_back();
    record = {{"model", matrix.models[place.first]},
              {"condition", matrix.columns[place.second]},
              {"passes", cell.passes},
              {"seeds", cell.summary.n}};
    add_score(record, "score", cell.summary);
    record["paper_passes"] = cell.paper ? Record(*cell.paper) : Record();
    record["paper"] = cell.paper_text.empty() ? Record() : Record(cell.paper_text);
  }
  return records;
}

Json json_of(const Matrix& matrix) {
  Json cells = Json::array();
  for (const auto& [place, cell] : matrix.cells)
    cells.push_back({{"model", matrix.models[place.first]},
                     {"column", matrix.columns[place.second]},
                     {"score", statistics_json(cell.summary)},
                     {"passes", cell.passes},
                     {"paper_passes", cell.paper ? Json(*cell.paper) : Json()},
                     {"runs", cell.runs}});
  return {{"models", matrix.models}, {"columns", matrix.columns}, {"cells", cells}};
}

FigureReport build_matrix(std::span<const ResultRow> rows, const FigureSubject& subject, const Options& options) {
  const Matrix matrix = make_matrix(rows, subject, options);
  std::size_t compared = 0, differing = 0;
  for (const auto& [place, cell] : matrix.cells) {
    compared += cell.paper ? 1 : 0;
    differing += disagrees(cell) ? 1 : 0;
  }
  std::vector<std::string> lines{setup_line(rows), counts_text(matrix.counts, "per cell", subject.scale),
                                 rule_text(options)};
  if (compared > 0) lines.emplace_back("below: the paper's verdict; outlined: it differs from ours");
  FigureReport report;
  report.figures.push_back({subject.name, figure_of(matrix, lines, figure_title(subject, options)),
                            rule_text(options) + ". The number is the mean in per cent."});
  report.tables.push_back(
      {"Verdicts", table_of(matrix), rule_text(options) + ".", false, "matrix", matrix_records(matrix)});
  for (std::size_t model = 0; model < matrix.models.size(); ++model) {
    std::size_t passed = 0, tried = 0;
    for (const auto& [place, cell] : matrix.cells) {
      tried += place.first == model ? 1 : 0;
      passed += place.first == model && cell.passes ? 1 : 0;
    }
    report.findings.push_back(fmt::format("{}: passes {} of {}", matrix.models[model], passed, tried));
  }
  if (compared > 0)
    report.findings.push_back(fmt::format("our verdict agrees with the paper's in {} of the {} cells it reports",
                                          compared - differing, compared));
  report.rules.emplace_back("Verdict", rule_text(options));
  report.data = json_of(matrix);
  return report;
}

}  // namespace

FigureKind matrix_kind() {
  return {
      .name = "matrix",
      .summary = "which model passes under which condition, with the paper's verdicts",
      .options = {title_field(), threshold_field("value of the metric from which a seed or a mean passes"),
                  or_word(
                      real_field("share", "mean", 0.0, 1.0,
                                 "fraction of the seeds that must reach the threshold; mean: their mean must reach it"),
                      {"mean"}),
                  texts_field("columns", Json::array(), "fields of the configuration that make columns"),
                  texts_field("metrics", Json::array({"test.accuracy"}),
                              "paths into the values of a summary; generalisation.accuracy: one column per value")},
      .build = build_matrix};
}

}  // namespace mneme::report
