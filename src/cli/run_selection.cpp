#include "cli/run_selection.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <set>

#include "core/error.h"
#include "core/text.h"
#include "report/pages/study_files.h"

namespace mneme::cli {
namespace {

bool is_filter(const std::string& argument) { return argument.find_first_of("=<>") != argument.npos; }

}  // namespace

void RunSelection::add(CLI::App& app, const std::string& without) {
  app.add_option("runs", arguments, "run ids (or their first digits) or filters, as for `mneme runs`" + without)
      ->type_name("RUN ... | KEY=VALUE ...");
  app.add_option("--study", study,
                 "select only runs of this study; without filters, all of them; overrides are part of its name, as "
                 "in 'demo train.seed=1'")
      ->type_name("STUDY");
  app.add_option("--scale", scale, "scale of the study")->type_name("NAME");
}

void RunSelection::require_some() const {
  if (empty())
    throw Error(ErrorKind::usage, "", "no runs selected; give the first digits of an id, KEY=VALUE, or --study");
}

study::Study RunSelection::open_study() const {
  std::string name;
  std::vector<std::string> overrides;
  for (const std::string& word : split(study, ' ')) {
    if (word.find('=') != word.npos && !name.empty())
      overrides.push_back(word);
    else if (overrides.empty())
      name += (name.empty() ? "" : " ") + word;
    else
      overrides.back() += " " + word;  // of a list with spaces
  }
  return report::open_study(name, {scale, overrides});
}

std::vector<config::RunConfig> RunSelection::planned() const {
  if (study.empty()) return {};
  return open_study().runs;
}

std::vector<std::string> RunSelection::ids(store::Index& index) const {
  if (study.empty() && !scale.empty())
    throw Error(ErrorKind::usage, "--scale", fmt::format("got '{}' without --study, expected both", scale));
  std::vector<std::string> named, filters;
  for (const std::string& argument : arguments) (is_filter(argument) ? filters : named).push_back(argument);
  std::set<std::string> chosen;
  for (const std::string& id : find_run_ids(index, named)) chosen.insert(id);
  if (study.empty()) {
    for (const std::string& id : find_run_ids(index, filters)) chosen.insert(id);
    return {chosen.begin(), chosen.end()};
  }
  std::set<std::string> fitting;
  if (!filters.empty())
    for (const std::string& id : find_run_ids(index, filters)) fitting.insert(id);
  for (const config::RunConfig& run : planned())
    if (filters.empty() ? index.find(run.id).has_value() : fitting.contains(run.id)) chosen.insert(run.id);
  return {chosen.begin(), chosen.end()};
}

}  // namespace mneme::cli
