#include <fmt/chrono.h>
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <ctime>
#include <optional>
#include <set>

#include "cli/command.h"
#include "cli/evaluation_jobs.h"
#include "cli/evaluation_report.h"
#include "cli/other_code.h"
#include "cli/run_selection.h"
#include "cli/study_input.h"
#include "config/evaluation.h"
#include "core/error.h"
#include "core/hash.h"
#include "core/text.h"
#include "store/evaluations.h"
#include "study/study.h"

namespace mneme::cli {
namespace {

struct EvaluateOptions {
  RunSelection runs;
  std::string along, name, mode = "auto";
  std::optional<std::int64_t> examples, kept;
  bool phases = false, replace = false;
  JobsOption jobs;
};

// Takes "task.key=value" out of the arguments; what is left selects runs.
Json take_task_options(std::vector<std::string>& arguments) {
  ConfigValue root{ConfigTable{}, ""};
  const auto is_option = [](const std::string& argument) {
    return argument.starts_with("task.") && argument.find('=') != argument.npos;
  };
  for (const std::string& argument : arguments)
    if (is_option(argument)) apply_override(root, argument);
  std::erase_if(arguments, is_option);
  const Json task = config_to_json(root).value("task", Json::object());
  if (task.contains("name"))
    throw Error(ErrorKind::usage, "evaluate", "task.name: a run is evaluated on its own task, expected another option");
  return task;
}

Json asked_of(const EvaluateOptions& options, const Json& task) {
  static_cast<void>(config::parse_reading(options.mode));
  if (options.examples && *options.examples < 1)
    throw Error(ErrorKind::usage, "--examples", fmt::format("got {}, expected at least 1", *options.examples));
  if (options.kept && *options.kept < 0)
    throw Error(ErrorKind::usage, "--kept", fmt::format("got {}, expected a step of train.keep", *options.kept));
  const std::size_t equals = options.along.find('=');
  Json values = Json::array();
  if (equals != options.along.npos)
    values = config::parse_axis_values(std::string_view(options.along).substr(equals + 1));
  return {{"task", task},
          {"along", options.along.substr(0, equals)},
          {"values", values},
          {"examples", options.examples.value_or(0)},
          {"mode", options.mode},
          {"phases", options.phases},
          {"kept", options.kept ? Json(*options.kept) : Json()}};
}

std::string default_name(const Json& asked) {
  const std::string along = asked.at("along");
  return (along.empty() ? "test" : along) + "-" + sha256_hex(canonical(asked)).substr(0, 6);
}

// Where the report is. A name of the user's own is the place; one that only says what was asked is shared by other
// runs.
std::string place_of(const EvaluateOptions& options, const std::string& name) {
  if (!options.name.empty()) return name;
  std::vector<std::string> words = options.runs.arguments;
  for (const std::string& word : {options.runs.study, options.runs.scale})
    if (!word.empty()) words.push_back(word);
  return study::variant_name(name, words);
}

// The runs that can be evaluated. A run that was named must be one of them; of a selection the others are left out.
std::vector<store::RunRecord> evaluable(const RunSelection& selection, store::Index& index, const store::Lab& lab) {
  const bool named =
      selection.study.empty() && std::none_of(selection.arguments.begin(), selection.arguments.end(),
                                              [](const std::string& a) { return a.find_first_of("=<>") != a.npos; });
  std::vector<store::RunRecord> records;
  std::size_t left_out = 0;
  for (const std::string& id : selection.ids(index)) {
    const store::RunRecord record = find_record(index, id);
    const bool fit = named ? lab.run(id).has_checkpoint() && record.state != store::RunState::running
                           : record.state == store::RunState::done && lab.run(id).has_checkpoint();
    if (!fit && named)
      throw Error(ErrorKind::usage, fmt::format("run {}", id),
                  record.state == store::RunState::running
                      ? "the run is still running, expected one that has ended"
                      : fmt::format("the run has no checkpoint (it is {}), expected one that was trained",
                                    store::run_state_name(record.state)));
    if (fit)
      records.push_back(record);
    else
      ++left_out;
  }
  if (left_out > 0)
    print_note(
        fmt::format("{} not done and left out", left_out == 1 ? "1 run is" : fmt::format("{} runs are", left_out)));
  if (records.empty()) throw Error(ErrorKind::data, "evaluate", "no run of this selection is done");
  return records;
}

// The kept result, if the same was asked before and nothing can have changed since.
std::optional<Json> known(const store::RunRecord& record, const EvaluateOptions& options, const std::string& name,
                          const Json& asked, const store::Lab& lab) {
  const auto kept = store::load_evaluation(lab.run(record.id), name);
  if (!kept || options.replace) return std::nullopt;
  if (kept->at("asked") != asked)
    throw Error(ErrorKind::usage, "--name",
                fmt::format("run {} has an evaluation '{}' with other settings, expected another name or --replace",
                            record.id, name));
  return record.state == store::RunState::done ? kept : std::nullopt;
}

void print_text(const std::vector<KeptEvaluation>& kept, const report::StudyReport& report, const std::string& name) {
  constexpr std::size_t kMostRows = 24;
  const report::Table points = point_table(kept), phases = phase_table(kept);
  if (points.rows.size() <= kMostRows) fmt::print("{}", report::to_text(points));
  if (!phases.rows.empty() && phases.rows.size() <= kMostRows) fmt::print("\n{}", report::to_text(phases));
  for (const report::FigureReport& figure : report.figures) {
    for (const report::ReportTable& table : figure.tables)
      if (kept.size() > 1 && table.table.rows.size() <= kMostRows) fmt::print("\n{}", report::to_text(table.table));
    for (const std::string& finding : figure.findings) fmt::print("{}\n", finding);
  }
  std::set<std::string> notes;
  for (const KeptEvaluation& one : kept)
    for (const Json& point : one.evaluation.at("values").at("points"))
      for (const Json& note : point.value("notes", Json::array())) notes.insert(note.get<std::string>());
  for (const std::string& note : notes) print_note(note);
  for (const std::string& message : report.messages) print_note(message);
  fmt::print("\nkept    evaluations/{}.json in the directory of each run\nreport  {}\n", name, report.page.string());
}

int evaluate(EvaluateOptions options, const Context& context) {
  const Json task = take_task_options(options.runs.arguments);
  options.runs.require_some();
  const Json asked = asked_of(options, task);
  const std::string name = options.name.empty() ? default_name(asked) : options.name;
  store::check_evaluation_name(name);
  const store::Lab lab = context.lab();
  lab.require();
  store::Index index = open_index(lab);
  const std::vector<store::RunRecord> records = evaluable(options.runs, index, lab);
  std::map<std::string, Json> results;
  std::vector<std::string> missing, ids;
  for (const store::RunRecord& record : records) {
    ids.push_back(record.id);
    if (auto kept = known(record, options, name, asked, lab))
      results[record.id] = std::move(*kept);
    else
      missing.push_back(record.id);
  }
  reckon_with_other_code(ids, lab, {});
  std::vector<EvaluatedRun> failed;
  evaluate_runs(missing, asked, lab, options.jobs.count(), [&](const EvaluatedRun& run) {
    if (!run.failure.empty()) {
      failed.push_back(run);
      return;
    }
    Json evaluation = run.result;
    evaluation["name"] = name;
    evaluation["asked"] = asked;
    evaluation["times"]["made_at"] = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
    store::save_evaluation(lab.run(run.id), name, evaluation);
    results[run.id] = std::move(evaluation);
    if (!context.json && missing.size() > 1)
      fmt::print(stderr, "{} of {} runs evaluated\n", results.size(), records.size());
  });
  if (results.empty()) throw Error(static_cast<ErrorKind>(failed.front().exit_code), "", failed.front().failure);
  std::vector<KeptEvaluation> kept;
  for (const store::RunRecord& record : records)
    if (results.contains(record.id)) kept.push_back({record, results.at(record.id)});
  const report::StudyReport report = report_evaluations(kept, place_of(options, name), lab);
  if (context.json) {
    Json evaluations = Json::array(), files = Json::array(), failures = Json::array();
    for (const KeptEvaluation& one : kept) evaluations.push_back(one.evaluation);
    for (const Path& file : report.files) files.push_back(file.string());
    for (const EvaluatedRun& run : failed) failures.push_back({{"run", run.id}, {"message", run.failure}});
    print_json({{"name", name},
                {"asked", asked},
                {"evaluations", evaluations},
                {"page", report.page.string()},
                {"files", files},
                {"failed", failures}});
  } else {
    print_text(kept, report, name);
  }
  for (const EvaluatedRun& run : failed)
    print_warning(fmt::format("run {} was not evaluated: {}", run.id, run.failure));
  return failed.empty() ? 0 : static_cast<int>(ErrorKind::runs_failed);
}

}  // namespace

void add_evaluate(CLI::App& app, Context& context) {
  auto options = std::make_shared<EvaluateOptions>();
  options->runs.add(app, "; task.KEY=VALUE changes the task that they are evaluated on");
  app.add_option("--along", options->along,
                 "evaluate at several values of an option of the task: length, length=64,128, length=64..6400x2 or "
                 "length=64..640+64")
      ->type_name("AXIS[=VALUES]");
  app.add_option("--examples", options->examples,
                 "test examples at each value (default: 1,000, fewer where sequences are long)")
      ->type_name("N");
  app.add_option("--mode", options->mode,
                 "forward: whole sequences; step: token by token, in memory that does not grow; auto: step where "
                 "sequences are long and the state does not grow")
      ->capture_default_str()
      ->type_name("auto|forward|step");
  app.add_option("--kept", options->kept, "use the weights that train.keep saved after this step, not the final ones")
      ->type_name("STEP");
  app.add_flag("--phases", options->phases, "counting: also run the phase tests");
  app.add_option("--name", options->name,
                 "save the results under this name (default: the axis and a hash of the request)")
      ->type_name("NAME");
  app.add_flag("--replace", options->replace, "evaluate again and replace the results saved under this name");
  options->jobs.add(app);
  app.callback([options, &context] { context.action = [options, &context] { return evaluate(*options, context); }; });
  add_examples(app,
               "  mneme evaluate 3f2a --along length=64..6400x2\n"
               "  mneme evaluate 3f2a 81bc task.pairs=8 --name more-pairs\n"
               "  mneme evaluate --study demo --scale smoke --along length=32..256x2");
}

}  // namespace mneme::cli
