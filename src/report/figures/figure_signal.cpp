#include "report/figures/figure_signal.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "core/error.h"
#include "report/figures/figure_style.h"
#include "report/figures/spec.h"
#include "report/stats/cells.h"
#include "report/stats/format.h"

namespace mneme::report {
namespace {

struct Trace {
  std::vector<double> input, target, output;
};

[[noreturn]] void wrong(const ResultRow& row, std::string_view what, std::string_view expected) {
  throw Error(ErrorKind::data, fmt::format("run {}", row.run), fmt::format("{}, expected {}", what, expected));
}

std::vector<double> signal_of(const ResultRow& row, const Json& trace, const char* name) {
  if (!trace.contains(name) || !trace[name].is_array()) wrong(row, fmt::format("a trace without {}", name), "a list");
  std::vector<double> values;
  for (const Json& value : trace[name]) {
    // A null was not finite: a hole in the line.
    if (!value.is_number() && !value.is_null())
      wrong(row, fmt::format("{} {} in a trace", name, value.dump()), "a number");
    values.push_back(value.is_null() ? std::nan("") : value.get<double>());
  }
  return values;
}

// By name; those without one are "signal 1", "signal 2", ...
std::map<std::string, Trace> traces_of(const ResultRow& row) {
  std::map<std::string, Trace> traces;
  if (!row.traces.is_array()) wrong(row, "traces that are not a list", "a list of objects");
  for (const Json& one : row.traces) {
    if (!one.is_object()) wrong(row, fmt::format("a trace {}", one.dump()), "an object");
    Trace trace{signal_of(row, one, "input"), signal_of(row, one, "target"), signal_of(row, one, "output")};
    if (trace.input.size() != trace.output.size() || trace.target.size() != trace.output.size())
      wrong(row,
            fmt::format("a trace of {} inputs, {} targets and {} outputs", trace.input.size(), trace.target.size(),
                        trace.output.size()),
            "as many of each");
    const std::string numbered = fmt::format("signal {}", traces.size() + 1);
    const Json name = one.value("name", Json(numbered));
    traces.emplace(name.is_string() ? name.get<std::string>() : numbered, std::move(trace));
  }
  return traces;
}

// What a panel shows.
struct Shown {
  std::string name;
  const ResultRow* row;
  std::map<std::string, Trace> traces;
};

std::vector<Shown> shown_runs(const Cells& cells) {
  std::vector<Shown> shown;
  for (const Cell& cell : cells.cells) {
    std::vector<const ResultRow*> rows;
    std::copy_if(cell.rows.begin(), cell.rows.end(), std::back_inserter(rows),
                 [](const ResultRow* row) { return !row->traces.empty(); });
    if (rows.empty()) continue;
    std::stable_sort(rows.begin(), rows.end(), [](const ResultRow* a, const ResultRow* b) {
      return counted_validation_accuracy(*a) < counted_validation_accuracy(*b);
    });
    const ResultRow* median = rows[(rows.size() - 1) / 2];
    const std::string& panel = cells.panels[cell.panel];
    shown.push_back(
        {panel.empty() ? cell.series : fmt::format("{}, {}", cell.series, panel), median, traces_of(*median)});
  }
  return shown;
}

// Four digits are more than a screen shows, and a third of the bytes.
Json rounded(double value) { return std::isfinite(value) ? Json(std::round(value * 1e4) / 1e4) : Json(); }

// The same for all panels, or they could not be compared.
Json range_of(const Json& points) {
  double lo = 0, hi = 1;
  for (const Json& point : points)
    for (const char* name : {"input", "target", "output"})
      if (point[name].is_number()) {
        lo = std::min(lo, point[name].get<double>());
        hi = std::max(hi, point[name].get<double>());
      }
  return {lo, hi};
}

Json panel_of(std::size_t panel, std::size_t panels, const Json& range) {
  const PanelSize size = panel_size(panels);
  const Json x =
      field("t", "quantitative", {{"scale", {{"nice", false}}}, {"axis", {{"title", "Step"}, {"grid", false}}}});
  const auto y = [&](const char* name) {
    return field(name, "quantitative",
                 {{"scale", {{"domain", range}, {"nice", false}, {"padding", 4}}},
                  {"axis", {{"title", "Signal"}, {"tickCount", 3}}}});
  };
  Json layers = Json::array();
  layers.push_back({{"mark", {{"type", "area"}, {"color", "#CFCFCF"}, {"interpolate", "step-after"}, {"opacity", 0.7}}},
                    {"encoding", {{"x", x}, {"y", y("input")}}}});
  layers.push_back(
      {{"mark",
        {{"type", "line"}, {"color", kInk}, {"strokeWidth", 1}, {"strokeDash", {3, 2}}, {"interpolate", "step-after"}}},
       {"encoding", {{"x", x}, {"y", y("target")}}}});
  layers.push_back({{"mark", {{"type", "line"}, {"color", "#D55E00"}, {"strokeWidth", 1.5}}},
                    {"encoding", {{"x", x}, {"y", y("output")}}}});
  return {{"data", dataset("signals")},
          {"transform", only_panel(panel)},
          {"width", size.width},
          {"height", size.height * 2 / 3},
          {"layer", layers}};
}

Json figure_of(const std::string& signal, const std::vector<Shown>& shown, std::vector<std::string> lines,
               const std::string& title, std::int64_t steps) {
  Json points = Json::array();
  std::vector<std::string> names;
  for (const Shown& one : shown) {
    const auto found = one.traces.find(signal);
    if (found == one.traces.end()) continue;
    const Trace& trace = found->second;
    const std::size_t length = std::min(trace.output.size(), static_cast<std::size_t>(steps));
    for (std::size_t t = 0; t < length; ++t)
      points.push_back({{"panel", names.size()},
                        {"t", t},
                        {"input", rounded(trace.input[t])},
                        {"target", rounded(trace.target[t])},
                        {"output", rounded(trace.output[t])}});
    names.push_back(one.name);
  }
  lines.push_back(fmt::format("{}; grey: input; dashed: target; line: output of the median seed", signal));
  Json figure = figure_head(title, lines, names.size());
  figure["datasets"] = {{"signals", points}};
  const Json range = range_of(points);
  std::vector<Json> panels;
  for (std::size_t i = 0; i < names.size(); ++i) panels.push_back(panel_of(i, names.size(), range));
  add_panels(figure, std::move(panels), names);
  if (names.size() == 1) figure["title"]["subtitle"].push_back(names.front());
  return figure;
}

FigureReport build_signal(std::span<const ResultRow> rows, const FigureSubject& subject, const Options& options) {
  const Cells cells = sort_into_cells(rows, {.panels = options.texts("panels"), .points = {}});
  const std::vector<Shown> shown = shown_runs(cells);
  const std::string title = figure_title(subject, options);
  const std::vector<std::string> lines{setup_line(rows), counts_text(cells.counts, "per model", subject.scale)};
  const std::vector<std::string> wanted = options.texts("signals");
  std::map<std::string, std::size_t> signals;
  Table table{
      .columns = {{"model"}, {"run"}, {"seed", Align::right}, {"rate", Align::right}, {"validation %", Align::right}},
      .rows = {}};
  Records records;
  for (const Shown& one : shown) {
    for (const auto& [name, trace] : one.traces)
      if (wanted.empty() || std::find(wanted.begin(), wanted.end(), name) != wanted.end()) ++signals[name];
    table.rows.push_back({one.name, one.row->run, seed_text(*one.row), format_rate(learning_rate(*one.row)),
                          format_percent(counted_validation_accuracy(*one.row))});
    records.push_back({{"model", one.name},
                       {"run", one.row->run},
                       {"seed", seed_text(*one.row)},
                       {"lr", learning_rate(*one.row)},
                       {"validation_accuracy", counted_validation_accuracy(*one.row)}});
  }
  FigureReport report;
  for (const auto& [name, count] : signals) {
    std::string file = fmt::format("{}-{}", subject.name, name);
    std::replace_if(
        file.begin(), file.end(), [](char c) { return c == ' ' || c == '/'; }, '-');
    report.figures.push_back({file, figure_of(name, shown, lines, title, options.integer("steps")),
                              fmt::format("Output over {}; {} models.", name, count)});
  }
  if (signals.empty())
    report.figures.push_back({subject.name, empty_figure(title, lines, "no run saved a signal"),
                              "No run of this study saved a signal ([test] traces)."});
  report.tables.push_back({"Runs that are shown", table, "For each model, the run with the median validation accuracy.",
                           false, "signals", records});
  report.data = {{"signals", Json::array()}};
  for (const Shown& one : shown) report.data["signals"].push_back({{"label", one.name}, {"run", one.row->run}});
  return report;
}

}  // namespace

FigureKind signal_kind() {
  return {.name = "signal",
          .summary = "output of a model over a signal, a panel for each model",
          .options = {title_field(), panels_field({"model.width", "model.layers"}),
                      texts_field("signals", Json::array(), "names of those that are drawn; empty: all that were kept"),
                      integer_field("steps", 400, 2, 1e6, "of the signal, at most")},
          .needs_traces = true,
          .build = build_signal};
}

}  // namespace mneme::report
