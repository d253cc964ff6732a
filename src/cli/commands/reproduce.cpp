#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "cli/command.h"
#include "cli/print_report.h"
#include "cli/terminal/fit.h"
#include "cli/train_runs.h"
#include "core/error.h"
#include "core/text.h"
#include "report/claims/reproduction_state.h"
#include "report/claims/scales.h"
#include "report/pages/kept_results.h"
#include "report/pages/results_page.h"
#include "report/pages/study_files.h"
#include "report/pages/study_record.h"

namespace mneme::cli {
namespace {

struct ReproduceOptions {
  std::vector<std::string> items;
  std::string scale;
  std::string results;  // directory to read from
  std::string save;     // directory to write results and figures to
  bool no_train = false;
  std::string page;  // Markdown whose marks are filled from the kept results
  std::int64_t jobs = 0;
  TrainLimits limits;
};

report::Table standing_table(const std::vector<report::ReproductionState>& states) {
  report::Table table{.columns = {{"item"}, {"runs", report::Align::right}, {"claims"}, {"what it shows"}}, .rows = {}};
  for (const report::ReproductionState& state : states)
    table.rows.push_back({state.item->id,
                          state.item->sizes ? "none needed" : fmt::format("{} of {}", state.ended, state.planned),
                          state.item->sizes ? "" : report::count_verdicts(state.claims()), state.item->what});
  return table;
}

// --results alone judges what is saved, whatever the lab has; --save and --no-train ask for what the lab has as well.
// What is saved counts as ended: results of several machines and sittings add up.
bool reads_lab(const ReproduceOptions& options) {
  return options.results.empty() || !options.save.empty() || options.no_train;
}

report::ReproductionState state_of(const report::Reproduction& item, const ReproduceOptions& options,
                                   const Context& context, std::optional<store::Index>& index) {
  if (!reads_lab(options)) return report::state_in_files(item, options.scale, options.results);
  const store::Lab lab = context.lab();
  if (!index && std::filesystem::exists(lab.root())) index.emplace(open_index(lab));
  store::Index* const known = index ? &*index : nullptr;
  const std::string& saved = options.results.empty() ? options.save : options.results;
  return saved.empty() ? report::state_in_lab(item, options.scale, lab, known)
                       : report::state_in_both(item, options.scale, lab, known, saved);
}

// Those that were named, or else all that have the scale: not every study has the larger ones.
std::vector<const report::Reproduction*> chosen_items(const ReproduceOptions& options) {
  std::vector<const report::Reproduction*> items;
  for (const std::string& id : options.items) {
    const report::Reproduction& item = report::find_reproduction(id);
    if (std::find(items.begin(), items.end(), &item) == items.end()) items.push_back(&item);
  }
  if (!items.empty()) return items;
  const std::string scale = options.scale.empty() ? std::string(study::kDefaultScale) : options.scale;
  std::map<std::string, std::vector<std::string>> scales;  // by the study's name
  std::set<std::string> known;
  std::vector<std::string> lacking;
  for (const report::FoundStudy& found : report::list_studies()) {
    scales[found.outline.name] = found.outline.scales;
    known.insert(found.outline.scales.begin(), found.outline.scales.end());
  }
  if (!known.contains(scale))
    throw Error(ErrorKind::usage, "--scale",
                fmt::format("unknown scale '{}'{}", scale,
                            suggestion(scale, std::vector<std::string>(known.begin(), known.end()))));
  for (const report::Reproduction& item : report::reproductions()) {
    const std::vector<std::string>& own = scales[item.study];
    if (item.sizes || std::find(own.begin(), own.end(), scale) != own.end())
      items.push_back(&item);
    else
      lacking.push_back(item.id);
  }
  if (!lacking.empty()) print_note(fmt::format("no scale {}: {}", scale, join(lacking, ", ")));
  return items;
}

int print_list(const ReproduceOptions& options, const Context& context) {
  std::vector<report::ReproductionState> states;
  std::optional<store::Index> index;
  for (const report::Reproduction* item : chosen_items(options))
    states.push_back(state_of(*item, options, context, index));
  if (context.json) {
    Json items = Json::array();
    for (const report::ReproductionState& state : states) items.push_back(report::state_json(state));
    print_json({{"items", items}});
    return 0;
  }
  fmt::print("{}\n", fit(standing_table(states)));
  for (const report::ReproductionState& state : states)
    if (const report::Table verdicts = report::verdict_table(state); !options.results.empty() && !verdicts.rows.empty())
      fmt::print("{} at scale {}\n{}\n", state.item->id, state.study.scale, fit(verdicts));
  fmt::print("Run and draw one: mneme reproduce A.fig1. Estimate its cost: mneme plan recall/fig1\n");
  return 0;
}

// Runs what is missing: the exit code of the sweep.
int run_missing(const report::ReproductionState& state, const ReproduceOptions& options, int jobs,
                const Context& context) {
  if (!context.json)
    fmt::print(stderr, "{}: {} at scale {}, {} of {} runs to go\n", state.item->id, state.study.title,
               state.study.scale, state.planned - state.ended, state.planned);
  context.lab().create();
  report::remember_study(context.lab(), state.study);
  TrainLimits limits = options.limits;
  if (!options.save.empty()) limits.keep = report::kept_file(options.save, state.item->id, state.study.scale);
  return exit_code_of(train_runs(state.study.runs, context, jobs, report::RunLabels(state.study.axes), limits));
}

void save(const report::ReproductionState& state, const report::StudyReport& report, const Path& directory) {
  report::keep_results(report::kept_file(directory, state.item->id, state.study.scale), state.rows);
  const std::string stem = fmt::format("{}.{}", state.item->id, state.study.scale);
  for (const Path& file : report.files)
    if (file.extension() == ".svg")
      write_file_atomically(directory / (stem + file.stem().string().substr(std::string("figure").size()) + ".svg"),
                            read_file(file));
}

// The same claims at the other scales whose results are kept.
void print_scales(const report::ReproductionState& state, const ReproduceOptions& options) {
  if (options.results.empty()) return;
  std::vector<report::ReproductionState> states;
  for (const std::string& scale : report::kept_scales(*state.item, options.results))
    states.push_back(report::state_in_files(*state.item, scale, options.results));
  const report::Table table = report::scale_table(states);
  if (!table.rows.empty()) fmt::print("{}\n", fit(table));
}

Json show(const report::ReproductionState& state, const ReproduceOptions& options, const Context& context) {
  Json json = report::state_json(state);
  if (state.item->sizes) {
    const report::Table sizes = report::size_table(state.study);
    if (context.json) {
      for (const auto& row : sizes.rows) json["sizes"].push_back(row);
    } else {
      fmt::print("{}: {}\n\n{}", state.item->id, state.item->what, fit(sizes));
    }
    return json;
  }
  if (state.not_planned > 0 && !context.json)
    print_note(fmt::format("{}: {} saved results belong to runs that the study no longer plans", state.item->id,
                           state.not_planned));
  if (state.ended == 0) {
    if (!context.json) fmt::print("{}: no finished runs yet\n", state.item->id);
    return json;
  }
  const report::StudyReport report = report::write_report(state.rows, state.subject, context.lab().reports());
  if (!options.save.empty()) save(state, report, options.save);
  json["page"] = report.page.string();
  if (!context.json) {
    print_report(report, state.subject, false);
    fmt::print("{}: {}\n\n", state.item->id, report::count_verdicts(state.claims()));
    print_scales(state, options);
  }
  return json;
}

int fill_page(const ReproduceOptions& options) {
  if (options.results.empty()) throw Error(ErrorKind::usage, "--page", "needs --results, got none");
  const std::string text = read_file(options.page), filled = report::fill_results_page(text, options.results);
  if (filled != text) write_file_atomically(options.page, filled);
  print_note(fmt::format("{}: {}", options.page, filled == text ? "nothing to change" : "marks filled"));
  return 0;
}

int reproduce(const ReproduceOptions& options, bool jobs_given, const Context& context) {
  if (!options.results.empty()) report::require_results(options.results);
  if (!options.page.empty()) return fill_page(options);
  const bool list = options.items.empty() && options.save.empty();
  if (list && (options.scale.empty() || !options.results.empty() || options.no_train))
    return print_list(options, context);
  if (options.items.empty() && options.scale == "paper" && !options.no_train)
    throw Error(ErrorKind::usage, "--scale",
                "scale paper needs the names of figures or tables: all of them take months on one machine (mneme plan "
                "recall/fig2 --scale paper)");
  const int jobs = checked_jobs(options.jobs, jobs_given);
  check_limits(options.limits);
  int worst = 0;
  Json items = Json::array();
  for (const report::Reproduction* item : chosen_items(options)) {
    std::optional<store::Index> index;
    report::ReproductionState state = state_of(*item, options, context, index);
    if (!item->sizes && options.results.empty() && !options.no_train && state.ended < state.planned) {
      index.reset();  // the sweep writes to it
      worst = std::max(worst, run_missing(state, options, jobs, context));
      state = state_of(*item, options, context, index);
    }
    items.push_back(show(state, options, context));
    if (worst == 130) break;  // stopped: what is not begun stays so
  }
  if (context.json) print_json({{"items", items}});
  return worst;
}

}  // namespace

void add_reproduce(CLI::App& app, Context& context) {
  auto options = std::make_shared<ReproduceOptions>();
  app.add_option("items", options->items,
                 "figures and tables such as A.fig1 or B.table2; without any: list them with their state")
      ->type_name("[ITEM ...]");
  app.add_option("--scale", options->scale,
                 "smoke, laptop (default), workstation or paper; without an ITEM: run all items at this scale")
      ->type_name("NAME");
  const CLI::Option* jobs =
      app.add_option("--jobs", options->jobs, "number of workers (default: one per processor)")->type_name("N");
  app.add_option("--max-time", options->limits.max_time,
                 "stop each sweep after this time and save checkpoints: 90s, 10m, 2h")
      ->type_name("TIME");
  app.add_option("--results", options->results,
                 "judge and draw results saved in this directory; train nothing. With --save or --no-train: use them "
                 "for runs missing from this lab")
      ->type_name("DIR");
  app.add_option(
         "--save", options->save,
         "save each result (JSON lines) as its run ends, and figures (SVG), in this directory; runs saved there "
         "are not trained again")
      ->type_name("DIR");
  app.add_option("--page", options->page,
                 "with --results: fill in the marked numbers of this Markdown page from the saved results "
                 "(docs/reproducing.md)")
      ->type_name("FILE");
  app.add_flag("--no-train", options->no_train,
               "judge and draw what the lab has (with --save: save it); train nothing");
  app.callback([options, jobs, &context] {
    context.action = [options, given = jobs->count() > 0, &context] { return reproduce(*options, given, context); };
  });
  add_examples(
      app,
      "  mneme reproduce\n  mneme reproduce A.fig1 --scale laptop\n  mneme reproduce --scale smoke\n  mneme "
      "reproduce A.fig1 --results results\n  mneme reproduce A.fig1 --scale workstation --save results --no-train");
}

}  // namespace mneme::cli
