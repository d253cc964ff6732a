#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "catalog/mixer_entry.h"
#include "cli/command.h"
#include "cli/terminal/fit.h"
#include "cli/terminal/terminal.h"
#include "core/error.h"
#include "core/text.h"
#include "report/claims/claims.h"
#include "report/pages/budgets.h"
#include "report/pages/study_files.h"
#include "report/pages/table.h"
#include "tasks/task.h"

namespace mneme::cli {
namespace {

// Where the states of the list are computed.
constexpr catalog::MixerContext at{.width = 64, .length = 64, .layer = 0, .layers = 2};

std::int64_t state_at(const catalog::MixerEntry& entry, std::int64_t length) {
  catalog::MixerContext context = at;
  context.length = length;
  return entry.state(context, defaults(entry.options, entry.name));
}

std::vector<std::string> names_of(const Schema& schema) {
  std::vector<std::string> names;
  for (const Field& field : schema) names.push_back(field.name);
  return names;
}

Json mixers_json() {
  Json list = Json::array();
  for (const auto* catalog : {&catalog::mixer_catalog(), &catalog::state_mixer_catalog()})
    for (const catalog::MixerEntry& entry : *catalog)
      list.push_back(
          {{"name", entry.name},
           {"kind", catalog == &catalog::mixer_catalog() ? "sequence" : "state"},
           {"family", entry.family},
           {"summary", entry.summary},
           {"citation", entry.citation},
           {"options", names_of(entry.options)},
           {"state", {{"width", at.width}, {"short", state_at(entry, 64)}, {"long", state_at(entry, 512)}}}});
  return list;
}

// One block a mixer: what it is, what it keeps, its options, where it is from.
void print_mixers(const Json& list) {
  const auto columns = static_cast<std::size_t>(std::max(terminal_of(stdout).columns, 60));
  for (const Json& item : list) {
    const Json& state = item.at("state");
    const std::string at_64 = grouped(state.at("short")), at_512 = grouped(state.at("long"));
    fmt::print("{:<18} {} ({})\n", item.at("name").get<std::string>(), item.at("summary").get<std::string>(),
               item.at("family").get<std::string>());
    if (item.at("kind") == "sequence")
      fmt::print("  state      {} floats at width {}{}\n", at_64, state.at("width").get<std::int64_t>(),
                 at_64 == at_512 ? " at any length" : fmt::format(" and length 64, {} at length 512", at_512));
    if (!item.at("options").empty())
      fmt::print("  options    {}\n",
                 wrapped(join(item.at("options").get<std::vector<std::string>>(), ", "), columns, 13));
    fmt::print("  citation   {}\n", wrapped(item.at("citation").get<std::string>(), columns, 13));
  }
}

Json tasks_json() {
  Json list = Json::array();
  for (const tasks::TaskEntry& entry : tasks::task_list())
    list.push_back({{"name", entry.name}, {"summary", entry.summary}, {"citation", entry.citation}});
  return list;
}

Json studies_json() {
  Json list = Json::array();
  for (const report::FoundStudy& study : report::list_studies()) {
    if (!study.trouble.empty()) {
      print_warning(study.trouble);
      continue;
    }
    list.push_back({{"name", study.outline.name},
                    {"title", study.outline.title},
                    {"scales", study.outline.scales},
                    {"runs", study.outline.runs},
                    {"file", study.file.string()}});
  }
  return list;
}

Json claims_json() {
  Json list = Json::array();
  for (const report::Claim& claim : report::claim_list())
    list.push_back({{"claim", claim.id},
                    {"study", claim.study},
                    {"where", claim.where},
                    {"statement", claim.statement},
                    {"words", claim.words},
                    {"rule", claim.rule}});
  return list;
}

Json budgets_json() {
  Json list = Json::array();
  for (const report::Budget& budget : report::shipped_budgets())
    list.push_back({{"task", budget.task},
                    {"size", budget.size},
                    {"mixer", budget.mixer},
                    {"batch", budget.batch},
                    {"runs", budget.runs},
                    {"steps_given", budget.most_steps},
                    {"steps_needed", budget.steps},
                    {"exact", budget.exact}});
  return list;
}

void print_section(const std::string& name, const Json& list) {
  report::Table table;
  if (name == "mixers") {
    table.columns = {{"mixer"}, {"along"}, {"what it is"}};
    for (const Json& item : list)
      table.rows.push_back({item["name"], item["kind"] == "sequence" ? "sequence" : "channels", item["summary"]});
  } else if (name == "tasks") {
    table.columns = {{"task"}, {"what it is"}};
    for (const Json& item : list) table.rows.push_back({item["name"], item["summary"]});
  } else if (name == "claims") {
    table.columns = {{"claim"}, {"where"}, {"what the paper states"}};
    for (const Json& item : list) table.rows.push_back({item["claim"], item["where"], item["statement"]});
  } else if (name == "budgets") {
    table = report::budget_table(report::shipped_budgets());
  } else {
    table.columns = {{"study"}, {"runs", report::Align::right}, {"scales"}, {"title"}};
    for (const Json& item : list)
      table.rows.push_back({item["name"], std::to_string(item["runs"].get<std::int64_t>()),
                            join(item["scales"].get<std::vector<std::string>>(), " "), item["title"]});
  }
  fmt::print("{}", fit(table));
}

int list(const std::string& what, const Context& context) {
  Json sections = Json::object();
  if (what.empty() || what == "mixers") sections["mixers"] = mixers_json();
  if (what.empty() || what == "tasks") sections["tasks"] = tasks_json();
  if (what.empty() || what == "studies") sections["studies"] = studies_json();
  if (what == "claims") sections["claims"] = claims_json();
  if (what == "budgets") sections["budgets"] = budgets_json();
  if (sections.empty()) {
    const std::vector<std::string> known{"mixers", "tasks", "studies", "claims", "budgets"};
    throw Error(ErrorKind::usage, "list", fmt::format("got '{}'{}", what, suggestion(what, known)));
  }
  if (context.json) {
    print_json(sections);
    return 0;
  }
  bool first = true;
  for (const char* name : {"mixers", "tasks", "studies", "claims", "budgets"}) {
    if (!sections.contains(name)) continue;
    if (!first) fmt::print("\n");
    // Mixers listed alone are described in full.
    if (what == "mixers")
      print_mixers(sections[name]);
    else
      print_section(name, sections[name]);
    first = false;
  }
  return 0;
}

}  // namespace

void add_list(CLI::App& app, Context& context) {
  auto what = std::make_shared<std::string>();
  app.add_option("what", *what,
                 "what to list (default: mixers, tasks and studies); claims: what the papers state; budgets: how many "
                 "steps solved runs needed")
      ->type_name("mixers|tasks|studies|claims|budgets");
  app.callback([what, &context] { context.action = [what, &context] { return list(*what, context); }; });
  add_examples(app, "  mneme list\n  mneme list mixers --json");
}

}  // namespace mneme::cli
