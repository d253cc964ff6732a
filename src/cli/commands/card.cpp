#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "catalog/python_class.h"
#include "cli/command.h"
#include "cli/commands/window_runs.h"
#include "cli/study_input.h"
#include "cli/terminal/fit.h"
#include "core/error.h"
#include "core/text.h"
#include "report/figures/render.h"
#include "report/pages/card.h"
#include "report/pages/study_files.h"
#include "run/worker.h"
#include "study/shipped.h"
#include "study/study.h"

namespace mneme::cli {
namespace {

constexpr const char* kStandard = "standard";
constexpr const char* kSmoke = "smoke";

struct CardOptions {
  std::string mixer;
  std::vector<std::string> overrides;
  std::string scale = kStandard;
  std::string save;
  JobsOption jobs;
};

std::string_view shipped_text(const char* name) {
  for (const study::ShippedStudy& study : study::shipped_studies())
    if (study.name == name) return study.text;
  throw Error(ErrorKind::internal, "card.cpp", fmt::format("the study {} is not compiled in", name));
}

// A test of the battery as a run of this mixer: the file at the card's scale, then what the user says.
ConfigValue test_run(const report::CardTest& test, const CardOptions& options) {
  const ConfigValue file = parse_toml(shipped_text(test.study), std::string(test.study) + ".toml");
  ConfigValue root{ConfigTable{}, "card"};
  for (const char* section : {"task", "model", "train", "test"})
    if (const ConfigValue* table = file.find(section)) root.table()[section] = *table;
  if (options.scale == kSmoke) root = merged(std::move(root), *file.find("scale")->find(kSmoke));
  apply_override(root, "model.mixer=" + options.mixer);
  for (const std::string& assignment : options.overrides) apply_override(root, assignment);
  return root;
}

bool gives(const std::vector<std::string>& overrides, std::string_view path) {
  return std::any_of(overrides.begin(), overrides.end(),
                     [&](const std::string& assignment) { return assignment.starts_with(std::string(path) + "="); });
}

// Mixers that know order get no positions, and those that exist for one length only are not tested beyond it.
ConfigValue fitted(ConfigValue root, const CardOptions& options) {
  ConfigValue trial = root;
  trial.table().erase("test");
  const config::RunConfig plain = config::resolve_run(trial);
  const bool order = std::any_of(plain.mixers.begin(), plain.mixers.end(), [](const config::MixerConfig& mixer) {
    return mixer.entry->knows_order(mixer.options);
  });
  if (order && !gives(options.overrides, "model.positions")) apply_override(root, "model.positions=none");
  try {
    config::resolve_run(root);
  } catch (const Error&) {
    ConfigValue shorter = root;
    shorter.table().erase("test");
    config::resolve_run(shorter);
    return shorter;
  }
  return root;
}

WindowPlan plan_of(const report::CardTest& test, const CardOptions& options) {
  WindowPlan plan;
  plan.root = fitted(test_run(test, options), options);
  plan.low = 1e-3;
  plan.high = 1e-2;
  plan.rates = 3;
  plan.rule.threshold = test.threshold;
  plan.rule.share = 0.6;
  plan.budget = 6;
  plan.best_has_all = true;
  if (options.scale == kSmoke) {
    plan.seeds = {42};
    plan.full = true;
  }
  return plan;
}

double mean_of(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

// A run that diverged has the score 0 and no speed.
Json mean_at(const std::vector<const WindowRun*>& runs, const std::string& pointer) {
  std::vector<double> values;
  const Json::json_pointer at(pointer);
  for (const WindowRun* run : runs)
    if (const bool diverged = run->summary.value("outcome", "") == "diverged";
        diverged && !pointer.starts_with("/values"))
      continue;
    else if (run->summary.contains(at) && run->summary.at(at).is_number())
      values.push_back(run->summary.at(at).get<double>());
    else if (diverged)
      values.push_back(0.0);
  return values.empty() ? Json() : Json(mean_of(values));
}

// The share of the phase tests that are passed, as a mean over runs.
Json phases_of(const std::vector<const WindowRun*>& runs) {
  std::vector<double> passed;
  for (const WindowRun* run : runs)
    for (const auto& [name, result] : run->summary.at("values").at("phases").items())
      if (result.is_boolean() && name != "offset_passed") passed.push_back(result.get<bool>() ? 1.0 : 0.0);
  return {{"axis", report::kPhaseTests}, {"value", passed.size() / runs.size()}, {"score", mean_of(passed)}};
}

// The farthest point beyond training, if there is one.
Json extrapolation_of(const std::vector<const WindowRun*>& runs) {
  const auto have = [&](const char* pointer) {
    return !runs.empty() && std::all_of(runs.begin(), runs.end(), [&](const WindowRun* run) {
      return run->summary.contains(Json::json_pointer(pointer));
    });
  };
  if (have("/values/phases")) return phases_of(runs);
  const Json::json_pointer at("/values/generalisation");
  if (runs.empty() || !runs.front()->summary.contains(at)) return nullptr;
  const Json& first = runs.front()->summary.at(at);
  const std::size_t last = first.at("points").size() - 1;
  return {{"axis", first.at("axis")},
          {"value", first.at("points").at(last).at("value")},
          {"score", mean_at(runs, fmt::format("/values/generalisation/points/{}/accuracy", last))}};
}

// Null for a Python class that says nothing of its state.
Json state_of(const config::RunConfig& config) {
  for (const config::MixerConfig& mixer : config.mixers)
    if (mixer.entry->python && !mixer.entry->python->tells_state()) return nullptr;
  return config.state();
}

Json test_json(const report::CardTest& test, const WindowOutcome& outcome) {
  const Json window = window_json(outcome.report);
  const double best = window.at("best_lr");
  std::vector<const WindowRun*> runs;
  Json ids = Json::array(), scores = Json::array();
  for (const WindowRun& run : outcome.report.runs) {
    ids.push_back(run.id);
    if (outcome.report.rates[run.rate] != best) continue;
    runs.push_back(&run);
    scores.push_back(mean_at({&run}, std::string("/values") + test.score));
  }
  const config::RunConfig& config = outcome.grid.front();
  const bool is_signal = std::string_view(test.score) != "/test/accuracy";
  return {{"name", test.name},
          {"kind", test.kind},
          {"score_name", test.score_name},
          {"score", mean_at(runs, std::string("/values") + test.score)},
          {"scores", scores},
          {"chance", is_signal ? 0.0 : config.chance},
          {"threshold", test.threshold},
          {"window", window.at("window")},
          {"best_lr", best},
          {"extrapolation", extrapolation_of(runs)},
          {"parameters", config.parameters()},
          {"state", state_of(config)},
          {"flops_per_token", config.forward_flops_per_example() / static_cast<double>(config.shape.length)},
          {"tokens_per_second", mean_at(runs, "/times/training_tokens_per_second")},
          {"runs", ids}};
}

// "gated_average.py:GatedAverage" with its version, so that a card names what it is of.
std::string source_of(const WindowOutcome& outcome) {
  const auto& python = outcome.grid.front().mixers.front().entry->python;
  return python ? python->source : "";
}

void write_page(const report::ReportPage& page, const Path& directory, const Context& context) {
  file_system().create_directories(directory);
  const Path file = directory / "index.html";
  write_file_atomically(file, report::render_page(page));
  std::vector<std::string> files{file.string()};
  for (const report::ReportSection& section : page.sections)
    for (const report::ReportFigure& figure : section.figures) {
      const report::Rendering rendering = report::render_figure(figure.specification, directory / figure.name);
      for (const std::string& message : rendering.messages) print_note(message);
      for (const Path& written : rendering.written) files.push_back(written.string());
    }
  if (!context.json)
    for (const std::string& written : files) fmt::print("wrote     {}\n", written);
}

int show_zoo(const CardOptions& options, const Context& context) {
  const std::vector<Json> cards = report::best_first(report::shipped_cards(options.scale));
  if (cards.empty())
    throw Error(ErrorKind::usage, "card", fmt::format("no card ships at scale '{}', expected a MIXER", options.scale));
  if (context.json) {
    print_json({{"cards", cards}});
    return 0;
  }
  fmt::print("{}\n", fit(report::zoo_table(cards, report::ZooColumn::score)));
  if (!options.save.empty()) write_page(report::zoo_page(cards), options.save, context);
  return 0;
}

int card(const CardOptions& options, const Context& context) {
  if (options.scale != kStandard && options.scale != kSmoke)
    throw Error(ErrorKind::usage, "--scale", fmt::format("got '{}', expected standard or smoke", options.scale));
  if (options.mixer.empty()) return show_zoo(options, context);
  const int jobs = options.jobs.count();
  std::vector<WindowPlan> plans;
  // All of it is checked before any of it is run.
  for (const report::CardTest& test : report::card_tests()) plans.push_back(plan_of(test, options));
  Json tests = Json::array();
  std::string source, mixer;
  for (std::size_t i = 0; i < plans.size(); ++i) {
    const report::CardTest& test = report::card_tests()[i];
    if (!context.json) fmt::print(stderr, "{} ({} of {})\n", test.name, i + 1, plans.size());
    const WindowOutcome outcome = search_window(plans[i], context, jobs);
    if (outcome.exit_code != 0) return outcome.exit_code;
    tests.push_back(test_json(test, outcome));
    source = source_of(outcome);
    mixer = outcome.report.mixer;
  }
  const Json result = {
      {"version", report::kCardVersion}, {"scale", options.scale}, {"mixer", mixer}, {"source", source},
      {"overrides", options.overrides},  {"tests", tests}};
  if (!options.save.empty()) write_file_atomically(options.save, result.dump(1) + "\n");
  const std::vector<Json> others = report::shipped_cards(options.scale);
  if (context.json)
    print_json(result);
  else
    fmt::print("{}\n{}\n", fit(report::card_table(result)), fit(report::card_cost_table(result)));
  // At another scale or with other options it is another card.
  const std::string name = "card-" + mixer + (options.scale == kStandard ? "" : "-" + options.scale);
  const Path directory = context.lab().reports() / study::variant_name(name, options.overrides);
  write_page(report::card_page(result, others), directory, context);
  write_file_atomically(directory / "card.json", result.dump(1) + "\n");
  return 0;
}

}  // namespace

void add_card(CLI::App& app, Context& context) {
  auto options = std::make_shared<CardOptions>();
  app.add_option("mixer", options->mixer,
                 "a mixer of the catalog, or FILE.py:Class; without one, compare the cards that ship")
      ->type_name("MIXER");
  app.add_option("overrides", options->overrides, "overrides a.b=value, for every test")->type_name("a.b=value ...");
  app.add_option("--scale", options->scale, "standard, or smoke to try the command in seconds")
      ->capture_default_str()
      ->type_name("NAME");
  app.add_option("--save", options->save, "file for the card; without a MIXER, directory for the page")
      ->type_name("PATH");
  options->jobs.add(app);
  app.callback([options, &context] { context.action = [options, &context] { return card(*options, context); }; });
  add_examples(app,
               "  mneme card gru\n  mneme card gated_average.py:GatedAverage model.GatedAverage.decay=0.95\n"
               "  mneme card gru --scale smoke\n  mneme card");
}

}  // namespace mneme::cli
