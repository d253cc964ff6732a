#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "catalog/mixer_entry.h"
#include "cli/command.h"
#include "cli/study_files.h"
#include "core/error.h"
#include "core/text.h"
#include "report/table.h"
#include "tasks/task.h"

namespace mneme {
namespace {

Json mixers_json() {
  Json list = Json::array();
  for (const auto* catalog : {&mixer_catalog(), &state_mixer_catalog()})
    for (const MixerEntry& entry : *catalog)
      list.push_back({{"name", entry.name},
                      {"kind", catalog == &mixer_catalog() ? "sequence" : "state"},
                      {"family", entry.family},
                      {"summary", entry.summary},
                      {"citation", entry.citation}});
  return list;
}

Json tasks_json() {
  Json list = Json::array();
  for (const TaskEntry& entry : task_list())
    list.push_back({{"name", entry.name}, {"summary", entry.summary}, {"citation", entry.citation}});
  return list;
}

Json studies_json() {
  Json list = Json::array();
  for (const FoundStudy& study : list_studies()) {
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

void print_section(const std::string& name, const Json& list) {
  Table table;
  if (name == "mixers") {
    table.columns = {{"mixer"}, {"along"}, {"what it is"}};
    for (const Json& item : list)
      table.rows.push_back({item["name"], item["kind"] == "sequence" ? "sequence" : "channels", item["summary"]});
  } else if (name == "tasks") {
    table.columns = {{"task"}, {"what it is"}};
    for (const Json& item : list) table.rows.push_back({item["name"], item["summary"]});
  } else {
    table.columns = {{"study"}, {"runs", Align::right}, {"scales"}, {"title"}};
    for (const Json& item : list)
      table.rows.push_back({item["name"], std::to_string(item["runs"].get<std::int64_t>()),
                            join(item["scales"].get<std::vector<std::string>>(), " "), item["title"]});
  }
  fmt::print("{}", to_text(table));
}

int list(const std::string& what, const Context& context) {
  Json sections = Json::object();
  if (what.empty() || what == "mixers") sections["mixers"] = mixers_json();
  if (what.empty() || what == "tasks") sections["tasks"] = tasks_json();
  if (what.empty() || what == "studies") sections["studies"] = studies_json();
  if (sections.empty()) {
    const std::vector<std::string> known{"mixers", "tasks", "studies"};
    throw Error(ErrorKind::usage, "list", fmt::format("got '{}'{}", what, suggestion(what, known)));
  }
  if (context.json) {
    print_json(sections);
    return 0;
  }
  bool first = true;
  for (const char* name : {"mixers", "tasks", "studies"}) {
    if (!sections.contains(name)) continue;
    if (!first) fmt::print("\n");
    print_section(name, sections[name]);
    first = false;
  }
  return 0;
}

}  // namespace

void add_list(CLI::App& app, Context& context) {
  auto what = std::make_shared<std::string>();
  app.add_option("what", *what, "mixers, tasks or studies; everything if nothing is said")
      ->type_name("mixers|tasks|studies");
  app.callback([what, &context] { context.action = [what, &context] { return list(*what, context); }; });
  add_examples(app, "  mneme list\n  mneme list mixers --json");
}

}  // namespace mneme
