#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "catalog/mixer_entry.h"
#include "cli/command.h"
#include "cli/terminal/terminal.h"
#include "core/error.h"
#include "core/text.h"
#include "run/worker.h"

namespace mneme::cli {
namespace {

struct CheckOptions {
  std::string mixer;
  std::vector<std::string> assignments;
  std::int64_t width = 16;
  bool no_cost = false;
};

Json read_options(const std::vector<std::string>& assignments) {
  ConfigValue table{ConfigTable{}, ""};
  for (const std::string& assignment : assignments) apply_override(table, assignment);
  return config_to_json(table);
}

std::string described(const std::string& mixer, const Json& options) {
  std::string result = mixer;
  for (const auto& [key, value] : options.items())
    result += fmt::format(" {}={}", key, value.is_string() ? value.get<std::string>() : value.dump());
  return result;
}

void print_row(const Json& row, const Terminal& terminal) {
  const std::string verdict = row.at("verdict");
  const bool passed = verdict == "passed", failed = verdict == "failed";
  const std::string mark = paint(passed   ? "ok  "
                                 : failed ? "FAIL"
                                          : "-   ",
                                 passed   ? Color::green
                                 : failed ? Color::red
                                          : Color::dim,
                                 terminal);
  fmt::print("  {} {:<11} {}\n", mark, row.at("check").get<std::string>(),
             harmless(row.at("detail").get<std::string>()));
  if (failed) fmt::print("       {:<11} expected: {}\n", "", row.at("promise").get<std::string>());
  std::fflush(stdout);
}

// Checks one mixer as it prints; returns the rows.
Json check_one(const std::string& mixer, const Json& options, const CheckOptions& how, bool quiet) {
  const Terminal terminal = terminal_of(stdout);
  if (!quiet) fmt::print("{} at width {}\n", paint(described(mixer, options), Color::bold, terminal), how.width);
  Json rows = Json::array();
  run::ask_worker(
      run::find_worker(),
      {{"request", "check"}, {"mixer", mixer}, {"options", options}, {"width", how.width}, {"cost", !how.no_cost}},
      "finished", [&](const Json& event) {
        if (event["event"] != "checked") return;
        Json row = event;
        row.erase("event");
        if (!quiet) print_row(row, terminal);
        rows.push_back(std::move(row));
      });
  return rows;
}

int check(const CheckOptions& how, const Context& context) {
  if (how.width < 1 || how.width > 4096)
    throw Error(ErrorKind::usage, "--width", fmt::format("got {}, expected 1 to 4096", how.width));
  const Json options = read_options(how.assignments);
  std::vector<std::string> mixers{how.mixer};
  if (how.mixer == "all") {
    if (!options.empty()) throw Error(ErrorKind::usage, "check all", "options need the name of one mixer, got all");
    mixers.clear();
    for (const auto* catalog : {&catalog::mixer_catalog(), &catalog::state_mixer_catalog()})
      for (const catalog::MixerEntry& entry : *catalog) mixers.push_back(entry.name);
  }
  Json results = Json::array();
  std::vector<std::string> failed;
  for (const std::string& mixer : mixers) {
    Json rows = Json::array();
    try {
      rows = check_one(mixer, options, how, context.json);
    } catch (const Error& error) {
      // Of all mixers, some may not fit a width; one alone is a mistake of the command.
      if (mixers.size() == 1 || error.exit_code() != static_cast<int>(ErrorKind::usage)) throw;
      rows.push_back({{"check", "options"},
                      {"promise", "fits the width"},
                      {"verdict", "not_applicable"},
                      {"detail", error.what()}});
      if (!context.json) print_row(rows[0], terminal_of(stdout));
    }
    const bool ok =
        std::none_of(rows.begin(), rows.end(), [](const Json& row) { return row.at("verdict") == "failed"; });
    if (!ok) failed.push_back(mixer);
    results.push_back(
        {{"mixer", mixer}, {"options", options}, {"width", how.width}, {"ok", ok}, {"checks", std::move(rows)}});
  }
  if (context.json)
    print_json({{"mixers", results}, {"failed", failed}});
  else if (mixers.size() > 1 || !failed.empty())
    fmt::print("{} of {} mixers pass{}\n", mixers.size() - failed.size(), mixers.size(),
               failed.empty() ? "" : "; failed: " + join(failed, ", "));
  return failed.empty() ? 0 : static_cast<int>(ErrorKind::mismatch);
}

}  // namespace

void add_check(CLI::App& app, Context& context) {
  auto options = std::make_shared<CheckOptions>();
  app.add_option("mixer", options->mixer, "name of a mixer or state mixer, or all")->required()->type_name("MIXER");
  app.add_option("options", options->assignments, "options of the mixer")->type_name("OPTION=VALUE ...");
  app.add_option("--width", options->width, "width of the input")->capture_default_str();
  app.add_flag("--no-cost", options->no_cost, "skip the timing check");
  app.callback([options, &context] { context.action = [options, &context] { return check(*options, context); }; });
  add_examples(
      app,
      "  mneme check mamba\n  mneme check attention num_heads=2 rope=true --width 32\n  mneme check all --no-cost");
}

}  // namespace mneme::cli
