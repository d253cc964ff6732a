#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "catalog/mixer_entry.h"
#include "catalog/pages.h"
#include "catalog/python_mixer.h"
#include "cli/commands/show_run.h"
#include "cli/terminal/fit.h"
#include "cli/terminal/page.h"
#include "core/error.h"
#include "core/text.h"
#include "report/pages/table.h"
#include "tasks/show.h"

namespace mneme::cli {
namespace {

const catalog::MixerEntry& find_any_mixer(const std::string& name) {
  if (catalog::is_python_name(name)) return catalog::find_python_mixer(name, nullptr, "show mixer");
  std::vector<std::string> known;
  for (const auto* catalog : {&catalog::mixer_catalog(), &catalog::state_mixer_catalog()})
    for (const catalog::MixerEntry& entry : *catalog) {
      if (entry.name == name) return entry;
      known.push_back(entry.name);
    }
  throw Error(ErrorKind::usage, "show mixer", fmt::format("unknown mixer '{}'{}", name, suggestion(name, known)));
}

bool tells_state(const catalog::MixerEntry& entry) { return !entry.python || entry.python->tells_state(); }

bool is_state_mixer(const catalog::MixerEntry& entry) {
  for (const catalog::MixerEntry& known : catalog::state_mixer_catalog())
    if (known.name == entry.name) return true;
  return false;
}

std::string options_table(const catalog::MixerEntry& entry) {
  report::Table table{
      .columns = {{fmt::format("model.{}.", entry.table())}, {"default"}, {"expected"}, {"what it does"}}, .rows = {}};
  for (const Field& field : entry.options)
    table.rows.push_back({field.name, field.fallback.dump(), field.expected(), field.help});
  return fit(table);
}

int show(const std::vector<std::string>& what, const Context& context) {
  if (what.size() == 1 && what[0] != "mixer" && what[0] != "task") return show_run(what[0], context);
  if (what.size() == 2 && what[0] == "run") return show_run(what[1], context);
  if (what.size() == 2 && what[0] == "mixer") return show_mixer(what[1], context);
  if (what.size() == 2 && what[0] == "task") return show_task(what[1], context);
  throw Error(ErrorKind::usage, "show",
              fmt::format("got '{}', expected RUN, mixer NAME or task NAME", join(what, " ")));
}

}  // namespace

int show_mixer(const std::string& name, const Context& context) {
  const catalog::MixerEntry& entry = find_any_mixer(name);
  const Options options = defaults(entry.options, "model." + entry.table());
  const catalog::MixerContext at{.width = 64, .length = 64, .layer = 0, .layers = 2};
  if (context.json) {
    Json fields = Json::array();
    for (const Field& field : entry.options)
      fields.push_back(
          {{"name", field.name}, {"default", field.fallback}, {"expected", field.expected()}, {"help", field.help}});
    print_json({{"name", entry.name},
                {"family", entry.family},
                {"summary", entry.summary},
                {"citation", entry.citation},
                {"page", std::string(catalog::mixer_page(is_state_mixer(entry) ? "state-mixers" : entry.name))},
                {"options", fields},
                {"at",
                 {{"width", at.width},
                  {"length", at.length},
                  {"parameters", entry.parameters(at, options)},
                  {"state", tells_state(entry) ? Json(entry.state(at, options)) : Json()},
                  {"flops", entry.flops(at, options)}}}});
    return 0;
  }
  fmt::print("{}\n{}\n\n", fit(fmt::format("{}: {}", entry.name, entry.summary)), fit(entry.citation));
  const std::string state =
      tells_state(entry) ? grouped(entry.state(at, options)) + " floats" : "unknown size (the class has no step)";
  fmt::print("{}\n", fit(fmt::format("With default options at width {} and length {}: {} parameters, a state of {}, "
                                     "{:.3g} useful FLOPs in a forward pass.",
                                     at.width, at.length, grouped(entry.parameters(at, options)), state,
                                     entry.flops(at, options)),
                         0));
  if (!entry.options.empty()) fmt::print("\n{}", options_table(entry));
  const std::string page(catalog::mixer_page(is_state_mixer(entry) ? "state-mixers" : entry.name));
  if (!page.empty()) fmt::print("\n{}", fit_page(page));
  return 0;
}

int show_task(const std::string& name, const Context& context) {
  const tasks::TaskEntry& entry = tasks::find_task(name, "show task");
  if (context.json)
    print_json(tasks::task_json(entry));
  else
    fmt::print("{}", tasks::describe_task(entry));
  return 0;
}

void add_show(CLI::App& app, Context& context) {
  auto what = std::make_shared<std::vector<std::string>>();
  app.add_option("what", *what, "a run id (or its first digits), mixer NAME or task NAME")
      ->required()
      ->expected(1, 2)
      ->type_name("RUN | mixer NAME | task NAME");
  app.callback([what, &context] { context.action = [what, &context] { return show(*what, context); }; });
  add_examples(app, "  mneme show 3f2a\n  mneme show mixer attention\n  mneme show task mqar");
}

}  // namespace mneme::cli
