#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <exception>

#include "catalog/analyses.h"
#include "cli/command.h"
#include "cli/terminal/terminal.h"
#include "core/autopsy.h"
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

void print_section(const report::ReportSection& section, double seconds) {
  const Terminal terminal = terminal_of(stdout);
  fmt::print("  {} {}\n", paint(section.title, Color::bold, terminal),
             paint(fmt::format("({:.1f} s)", seconds), Color::dim, terminal));
  for (const std::string& finding : section.findings)
    fmt::print("    {}\n", wrapped(harmless(finding), static_cast<std::size_t>(terminal.columns) - 4, 4));
  std::fflush(stdout);
}

// What was found in one run, printed as it comes.
class Inspection {
 public:
  Inspection(const store::Lab& lab, const store::RunRecord& record, const InspectOptions& options, bool quiet)
      : directory_(lab.run(record.id)), run_(described(record)), examples_(options.examples), quiet_(quiet) {
    if (!quiet_) fmt::print("{} {}\n", paint(record.id, Color::bold, terminal_of(stdout)), run_.label);
  }

  void look_at_model(const std::vector<std::string>& what) {
    run::ask_worker(run::find_worker(),
                    {{"request", "inspect"},
                     {"directory", std::filesystem::absolute(directory_.path()).string()},
                     {"what", what},
                     {"examples", examples_}},
                    "finished", [&](const Json& event) {
                      if (event["event"] == "inspecting") step_ = event.at("step");
                      if (event["event"] == "inspected")
                        add({event.at("analysis"), step_, examples_, event.at("result")}, event.at("thread_seconds"));
                    });
  }

  void look_at_record() {
    if (!std::filesystem::exists(directory_.autopsy()))
      return add({"autopsy", 0, 0, {{"skipped", "the run has no record of its last steps; it is written at its end"}}},
                 0);
    const TrainingTrace trace = load_autopsy(directory_.autopsy());
    add({"autopsy", trace.steps.empty() ? 0 : trace.steps.back().step, 0, autopsy_json(trace)}, 0);
  }

  bool found_something() const { return !results_.empty(); }

  // Writes what was found; returns what --json tells of it.
  Json keep() const {
    for (const std::string& message : report::keep_inspections(directory_.path(), run_, results_))
      print_warning(message);
    if (!quiet_) fmt::print("  written to {}\n", harmless((directory_.path() / "inspect").string()));
    return {{"run", run_.id}, {"step", step_}, {"examples", examples_}, {"analyses", told_}};
  }

 private:
  void add(report::InspectionResult result, double seconds) {
    const report::ReportSection section = report::inspection_section(result.analysis, result.result, run_);
    if (!quiet_) print_section(section, seconds);
    told_.push_back({{"analysis", result.analysis},
                     {"findings", section.findings},
                     {"thread_seconds", seconds},
                     {"result", result.result}});
    results_.push_back(std::move(result));
  }

  store::RunDirectory directory_;
  report::InspectedRun run_;
  std::int64_t examples_, step_ = 0;
  bool quiet_;
  std::vector<report::InspectionResult> results_;
  Json told_ = Json::array();
};

bool is_of_the_record(const std::string& name) { return catalog::find_analysis(name).of_the_record; }

// What was found before a failure is kept.
Json inspect_run(const store::Lab& lab, const store::RunRecord& record, const InspectOptions& options, bool quiet) {
  std::vector<std::string> of_model = chosen(options.what);
  const bool record_too = std::erase_if(of_model, is_of_the_record) > 0;
  Inspection inspection(lab, record, options, quiet);
  const bool ended_badly = record.state == store::RunState::diverged || record.state == store::RunState::failed;
  if (options.what.empty() && ended_badly && !lab.run(record.id).has_checkpoint()) {
    print_note(fmt::format("run {} ended before any weights were saved: only its last steps are looked at", record.id));
    of_model.clear();
  }
  std::exception_ptr failure;
  try {
    if (!of_model.empty()) inspection.look_at_model(of_model);
  } catch (const Error&) {
    failure = std::current_exception();
  }
  if (record_too) inspection.look_at_record();
  Json told = inspection.found_something() ? inspection.keep() : Json();
  if (failure) std::rethrow_exception(failure);
  return told;
}

int inspect(const InspectOptions& options, const Context& context) {
  if (options.examples < 1 || options.examples > kMostExamples)
    throw Error(ErrorKind::usage, "--examples",
                fmt::format("got {}, expected 1 to {}", options.examples, kMostExamples));
  chosen(options.what);
  const store::Lab lab = context.lab();
  lab.require();
  store::Index index = open_index(lab);
  Json runs = Json::array(), failures = Json::array();
  const std::vector<std::string> ids = find_run_ids(index, options.runs);
  if (ids.empty()) throw Error(ErrorKind::usage, "inspect", "no run matches, expected at least one");
  for (const std::string& id : ids) try {
      runs.push_back(inspect_run(lab, find_record(index, id), options, context.json));
    } catch (const Error& error) {
      if (ids.size() == 1) throw;
      failures.push_back({{"run", id}, {"message", error.what()}});
    }
  if (context.json) print_json({{"runs", runs}, {"failed", failures}});
  for (const Json& one : failures)
    print_warning(
        fmt::format("run {} was not inspected: {}", one["run"].get<std::string>(), one["message"].get<std::string>()));
  return failures.empty() ? 0 : static_cast<int>(ErrorKind::runs_failed);
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
  app.add_option("--examples", options->examples, "examples of the test split to look at")
      ->capture_default_str()
      ->type_name("N");
  app.callback([options, &context] { context.action = [options, &context] { return inspect(*options, context); }; });
  add_examples(app,
               "  mneme inspect 3f2a\n  mneme inspect 3f2a --what matrix,patterns\n"
               "  mneme inspect mixer=mamba seed=42 --json");
}

}  // namespace mneme::cli
