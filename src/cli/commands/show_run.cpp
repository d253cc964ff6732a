#include "cli/commands/show_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cli/terminal/fit.h"
#include "cli/terminal/plot.h"
#include "cli/terminal/terminal.h"
#include "core/autopsy.h"
#include "core/error.h"
#include "core/text.h"
#include "report/pages/run_label.h"
#include "report/pages/table.h"
#include "report/stats/format.h"
#include "store/evaluations.h"
#include "store/run_code.h"

namespace mneme::cli {
namespace {

std::vector<PlotPoint> curve(const std::vector<Json>& metrics, const char* value) {
  std::vector<PlotPoint> points;
  for (const Json& metric : metrics) {
    if (metric.value("split", "") != "validation") continue;
    const Json& values = metric.at("values");
    const bool known = values.contains(value) && values[value].is_number();
    points.push_back({metric.at("step").get<double>(), known ? values[value].get<double>() : NAN});
  }
  return points;
}

void print_curves(const std::vector<Json>& metrics, std::size_t columns) {
  const auto accuracy = curve(metrics, "accuracy"), loss = curve(metrics, "loss");
  if (accuracy.empty()) return;
  fmt::print("\n{}", plot(accuracy, {.title = "validation accuracy",
                                     .columns = columns,
                                     .rows = 8,
                                     .low = 0,
                                     .high = 1,
                                     .low_label = "0 %",
                                     .high_label = "100 %"}));
  double high = 0;
  for (const PlotPoint& point : loss)
    if (std::isfinite(point.y)) high = std::max(high, point.y);
  if (high > 0)
    fmt::print("\n{}", plot(loss, {.title = "validation loss",
                                   .columns = columns,
                                   .rows = 6,
                                   .low = 0,
                                   .high = high,
                                   .low_label = "0",
                                   .high_label = fmt::format("{:.3g}", high)}));
}

// How wide the longest key is, with those of inner tables.
std::size_t key_width(const Json& fields, std::size_t prefix = 0) {
  std::size_t width = 0;
  for (const auto& [key, value] : fields.items())
    width = std::max(width, value.is_object() ? key_width(value, prefix + key.size() + 1) : prefix + key.size());
  return width;
}

void print_fields(const std::string& prefix, const Json& fields, std::size_t width) {
  for (const auto& [key, value] : fields.items()) {
    if (value.is_object())
      print_fields(prefix + key + ".", value, width);
    else
      fmt::print("  {} {}\n", padded(prefix + key, width),
                 harmless(value.is_string() ? value.get<std::string>() : value.dump()));
  }
}

void print_section(const std::string& name, const Json& section, const Terminal& terminal) {
  fmt::print("{}\n", paint(name, Color::bold, terminal));
  print_fields("", section, std::max<std::size_t>(22, key_width(section)));
}

// A score of a point as a person reads it; null is a loss that was not finite.
std::string shown_score(const std::string& name, const Json& value) {
  if (!value.is_number()) return "not finite";
  return name == "loss" ? fmt::format("{:.3g}", value.get<double>()) : report::percent(value.get<double>());
}

// The points of values.generalisation, one row each.
void print_generalisation(const Json& found, const Terminal& terminal) {
  const Json& points = found.at("points");
  if (points.empty()) return;
  report::Table table{{{found.at("axis").get<std::string>(), report::Align::right}}, {}};
  for (const auto& [name, value] : points.front().items())
    if (name != "value") table.columns.push_back({name, report::Align::right});
  for (const Json& point : points) {
    table.rows.push_back({point.at("value").dump()});
    for (std::size_t i = 1; i < table.columns.size(); ++i)
      table.rows.back().push_back(shown_score(table.columns[i].title, point.value(table.columns[i].title, Json())));
  }
  fmt::print("{}\n{}", paint("generalisation", Color::bold, terminal), fit(table));
}

// Accuracy by position or distance, one line a stretch.
void print_stretches(const std::string& name, const Json& bins, const Terminal& terminal) {
  constexpr std::size_t kMost = 24, kBar = 20;
  if (bins.empty() || bins.size() > kMost) return;
  fmt::print("{}\n", paint(name, Color::bold, terminal));
  for (const Json& bin : bins) {
    const auto from = bin.at("from").get<std::int64_t>(), last = bin.at("to").get<std::int64_t>() - 1;
    const double share = bin.at("accuracy").get<double>();
    fmt::print("  {:>13} {} {:>7} of {}\n", from == last ? fmt::format("{}", from) : fmt::format("{}-{}", from, last),
               bar(share, kBar), report::percent(share), bin.at("labelled").dump());
  }
}

void print_tests(const Json& values, const Terminal& terminal) {
  const Json test = values.value("test", Json::object());
  for (const char* name : {"accuracy_by_position", "accuracy_by_distance"})
    if (test.contains(name)) print_stretches(name, test[name], terminal);
  if (values.contains("generalisation")) print_generalisation(values["generalisation"], terminal);
  if (values.contains("phases")) print_section("phases", values["phases"], terminal);
}

// What people say of it; damage to that is told and costs nothing else.
store::RunNotes told_notes(const store::RunDirectory& directory) {
  try {
    return store::read_notes(directory);
  } catch (const Error& error) {
    print_warning(error.what());
    return {};
  }
}

// The evaluations that `mneme evaluate` kept, a line each.
void print_evaluations(const store::RunDirectory& directory, const Terminal& terminal) {
  const std::vector<std::string> names = store::evaluation_names(directory);
  if (names.empty()) return;
  using report::Align;
  report::Table table{{{"name"}, {"weights of step", Align::right}, {"along"}, {"from"}, {"to"}, {"accuracy"}}, {}};
  for (const std::string& name : names) {
    const Json evaluation = *store::load_evaluation(directory, name);
    const Json &values = evaluation.at("values"), &points = values.at("points");
    const auto accuracy = [](const Json& point) { return shown_score("accuracy", point.value("accuracy", Json())); };
    const auto text = [](const Json& value) { return value.is_null() ? "-" : value.dump(); };
    const std::string axis = values.at("axis"), first = accuracy(points.front()), last = accuracy(points.back());
    table.rows.push_back({name, evaluation.value("step", Json()).dump(), axis.empty() ? "-" : axis,
                          text(points.front().at("value")), text(points.back().at("value")),
                          points.size() == 1 ? first : fmt::format("{} to {}", first, last)});
  }
  fmt::print("{}\n{}", paint("evaluations", Color::bold, terminal), report::to_text(table));
}

// What left its band before a run ended badly, earliest first.
void print_autopsy(const store::RunRecord& record, const store::RunDirectory& directory, const Terminal& terminal) {
  constexpr std::size_t kMost = 6;
  const bool badly = record.state == store::RunState::diverged || record.state == store::RunState::failed;
  if (!badly || !std::filesystem::exists(directory.autopsy())) return;
  const TrainingTrace trace = load_autopsy(directory.autopsy());
  fmt::print("{}\n  {}\n", paint("autopsy", Color::bold, terminal), autopsy_sentence(trace));
  std::vector<Departure> found = departures(trace);
  if (found.size() > kMost) found.resize(kMost);
  using report::Align;
  report::Table table{{{"step", Align::right}, {"group"}, {"what"}, {"value", Align::right}, {"its band"}}, {}};
  for (const Departure& one : found)
    table.rows.push_back({std::to_string(one.step), one.group.empty() ? "the model" : one.group, one.quantity,
                          fmt::format("{:.3g}", one.value), fmt::format("{:.3g} to {:.3g}", one.low, one.high)});
  if (!table.rows.empty()) fmt::print("{}", report::to_text(table));
}

Json document(const store::RunRecord& record, const store::RunDirectory& directory, const std::vector<Json>& metrics) {
  Json codes = Json::array();
  for (const CodeIdentity& code : store::codes_of(directory))
    codes.push_back({{"mneme", code.version}, {"code", code.build}});
  Json evaluations = Json::object();
  for (const std::string& name : store::evaluation_names(directory))
    evaluations[name] = *store::load_evaluation(directory, name);
  return {{"id", record.id},
          {"state", store::run_state_name(record.state)},
          {"reason", record.reason},
          {"directory", directory.path().string()},
          {"tags", record.notes.tags},
          {"note", record.notes.note},
          {"code", codes},
          {"config", parse_json(record.config, "config")},
          {"summary", record.summary.empty() ? Json() : parse_json(record.summary, "summary")},
          {"metrics", metrics},
          {"kept_steps", directory.kept_steps()},
          {"evaluations", evaluations},
          {"autopsy", std::filesystem::exists(directory.autopsy())
                          ? Json(autopsy_sentence(load_autopsy(directory.autopsy())))
                          : Json()}};
}

}  // namespace

int show_run(const std::string& prefix, const Context& context) {
  const store::Lab lab = context.lab();
  lab.require();
  store::Index index = open_index(lab);
  const store::RunRecord record = find_record(index, find_run_id(index, prefix));
  const store::RunDirectory directory = lab.run(record.id);
  const std::vector<Json> metrics = directory.metrics();
  if (context.json) {
    print_json(document(record, directory, metrics));
    return 0;
  }
  const Terminal terminal = terminal_of(stdout);
  fmt::print("run {}: {}{}\n", paint(record.id, Color::bold, terminal), store::run_state_name(record.state),
             record.reason.empty() ? "" : fmt::format(" ({})", harmless(record.reason)));
  fmt::print("  {} steps, validation {}, test {}, {}\n  {}\n", grouped(record.steps),
             report::percent(record.validation_accuracy), report::percent(record.test_accuracy),
             duration(record.seconds), directory.path().string());
  const store::RunNotes notes = told_notes(directory);
  if (!notes.tags.empty()) fmt::print("  tags: {}\n", join(notes.tags, ", "));
  if (!notes.note.empty()) fmt::print("  note: {}\n", fit(harmless(notes.note), 8));
  for (const CodeIdentity& code : store::codes_of(directory))
    fmt::print("  made by {}{}\n", describe(code),
               compare_code(code, this_code()) == CodeMatch::other ? ", other code than this program" : "");
  print_curves(metrics, static_cast<std::size_t>(std::clamp(terminal.columns, 40, 100)));
  fmt::print("\n");
  const Json config = parse_json(record.config, "config");
  for (const char* section : {"task", "model", "train", "test"})
    if (config.contains(section)) print_section(section, config.at(section), terminal);
  if (!record.summary.empty()) print_tests(parse_json(record.summary, "summary").value("values", Json()), terminal);
  print_evaluations(directory, terminal);
  print_autopsy(record, directory, terminal);
  fmt::print("{}\n", paint("log", Color::bold, terminal));
  for (const std::string& line : directory.last_log_lines(8)) fmt::print("  {}\n", harmless(line));
  return 0;
}

}  // namespace mneme::cli
