#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "catalog/analyses.h"
#include "cli/command.h"
#include "cli/terminal/terminal.h"
#include "core/error.h"
#include "core/text.h"
#include "report/pages/inspection.h"
#include "run/worker.h"

namespace mneme::cli {
namespace {

constexpr std::int64_t kMostExamples = 10000;

struct InspectOptions {
  std::vector<std::string> runs;
  std::vector<std::string> what;
  std::int64_t examples = 16;
};

std::vector<std::string> chosen(const std::vector<std::string>& what) {
  std::vector<std::string> names;
  for (const catalog::AnalysisEntry& entry : catalog::analysis_catalog()) {
    const bool all = what.empty() || std::find(what.begin(), what.end(), "all") != what.end();
    if (all || std::find(what.begin(), what.end(), entry.name) != what.end()) names.push_back(entry.name);
  }
  for (const std::string& name : what)
    if (name != "all") catalog::find_analysis(name);
  return names;
}

report::InspectedRun described(const store::RunRecord& record) {
  return {record.id, fmt::format("{}, {}, width {}, {} {}, lr {:.3g}, seed {}", record.task, record.mixer, record.width,
                                 record.layers, record.layers == 1 ? "layer" : "layers", record.lr, record.seed)};
}

void print_section(const report::ReportSection& section, double seconds, const Terminal& terminal) {
  fmt::print("  {} {}\n", paint(section.title, Color::bold, terminal),
             paint(fmt::format("({:.1f} s)", seconds), Color::dim, terminal));
  for (const std::string& finding : section.findings)
    fmt::print("    {}\n", wrapped(harmless(finding), static_cast<std::size_t>(terminal.columns) - 4, 4));
  std::fflush(stdout);
}

// Inspects one run as it prints; returns what --json tells of it.
Json inspect_run(const store::Lab& lab, const store::RunRecord& record, const InspectOptions& options, bool quiet) {
  const Terminal terminal = terminal_of(stdout);
  const report::InspectedRun run = described(record);
  const Path directory = lab.run(record.id).path();
  if (!quiet) fmt::print("{} {}\n", paint(record.id, Color::bold, terminal), run.label);
  std::vector<report::InspectionResult> results;
  std::int64_t step = 0;
  Json told = Json::array();
  run::ask_worker(run::find_worker(),
                  {{"request", "inspect"},
                   {"directory", std::filesystem::absolute(directory).string()},
                   {"what", chosen(options.what)},
                   {"examples", options.examples}},
                  "finished", [&](const Json& event) {
                    if (event["event"] == "inspecting") step = event.at("step");
                    if (event["event"] != "inspected") return;
                    results.push_back({event.at("analysis"), step, options.examples, event.at("result")});
                    const double seconds = event.at("thread_seconds");
                    const report::ReportSection section =
                        report::inspection_section(results.back().analysis, results.back().result, run);
                    if (!quiet) print_section(section, seconds, terminal);
                    told.push_back({{"analysis", results.back().analysis},
                                    {"findings", section.findings},
                                    {"thread_seconds", seconds},
                                    {"result", results.back().result}});
                  });
  for (const std::string& message : report::keep_inspections(directory, run, results)) print_warning(message);
  if (!quiet) fmt::print("  written to {}\n", harmless((directory / "inspect").string()));
  return {{"run", record.id}, {"step", step}, {"examples", options.examples}, {"analyses", told}};
}

int inspect(const InspectOptions& options, const Context& context) {
  if (options.examples < 1 || options.examples > kMostExamples)
    throw Error(ErrorKind::usage, "--examples",
                fmt::format("got {}, expected 1 to {}", options.examples, kMostExamples));
  chosen(options.what);
  const store::Lab lab = context.lab();
  lab.require();
  store::Index index = open_index(lab);
  Json runs = Json::array();
  for (const std::string& id : find_run_ids(index, options.runs))
    runs.push_back(inspect_run(lab, *index.find(id), options, context.json));
  if (context.json) print_json({{"runs", runs}});
  return 0;
}

std::string what_help() {
  std::string text = "analyses, separated by commas (default: all): ";
  for (const catalog::AnalysisEntry& entry : catalog::analysis_catalog())
    text +=
        fmt::format("{}{} ({})", &entry == &catalog::analysis_catalog().front() ? "" : "; ", entry.name, entry.summary);
  return text;
}

}  // namespace

void add_inspect(CLI::App& app, Context& context) {
  auto options = std::make_shared<InspectOptions>();
  app.add_option("runs", options->runs, "trained runs: ids (or their first digits) or filters, as for `mneme runs`")
      ->required()
      ->type_name("RUN ... | KEY=VALUE ...");
  app.add_option("--what", options->what, what_help())->delimiter(',')->allow_extra_args(false)->type_name("NAME,...");
  app.add_option("--examples", options->examples, "examples of the test split to look at")->capture_default_str();
  app.callback([options, &context] { context.action = [options, &context] { return inspect(*options, context); }; });
  add_examples(app,
               "  mneme inspect 3f2a\n  mneme inspect 3f2a --what matrix,patterns\n"
               "  mneme inspect mixer=mamba seed=42 --json");
}

}  // namespace mneme::cli
