#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "cli/command.h"
#include "cli/terminal/fit.h"
#include "core/error.h"
#include "core/text.h"
#include "report/pages/run_label.h"
#include "report/pages/table.h"
#include "report/stats/format.h"
#include "study/run_filters.h"

namespace mneme::cli {
namespace {

struct RunsOptions {
  std::vector<std::string> filters;
  std::vector<std::string> sort;
  std::int64_t limit = 50;
};

constexpr std::size_t kShownNote = 40;

store::RunQuery query_of(const RunsOptions& options) {
  if (options.limit < 0)
    throw Error(ErrorKind::usage, "--limit", fmt::format("got {}, expected 0 (all) or more", options.limit));
  store::RunQuery query;
  for (const std::string& filter : options.filters) query.filters.push_back(study::parse_filter(filter));
  for (std::string_view key : options.sort) {
    const bool descending = key.starts_with("-");
    if (descending) key.remove_prefix(1);
    query.order.emplace_back(study::parse_key(key), descending);
  }
  // By default the run that changed last comes first.
  if (query.order.empty()) query.order.emplace_back(store::parse_run_key("changed"), true);
  query.limit = options.limit == 0 ? -1 : options.limit;
  return query;
}

Json to_json(const store::RunRecord& record) {
  const auto number = [](const std::optional<double>& value) { return value ? Json(*value) : Json(); };
  return {{"id", record.id},
          {"state", store::run_state_name(record.state)},
          {"reason", record.reason},
          {"task", record.task},
          {"mixer", record.mixer},
          {"width", record.width},
          {"layers", record.layers},
          {"lr", record.lr},
          {"seed", record.seed},
          {"steps", record.steps},
          {"seconds", record.seconds},
          {"validation_accuracy", number(record.validation_accuracy)},
          {"test_accuracy", number(record.test_accuracy)},
          {"tags", record.notes.tags},
          {"note", record.notes.note}};
}

report::Table to_table(const std::vector<store::RunRecord>& records) {
  report::Table table{.columns = {{"run"},
                                  {"state"},
                                  {"task"},
                                  {"mixer"},
                                  {"width", report::Align::right},
                                  {"layers", report::Align::right},
                                  {"lr", report::Align::right},
                                  {"seed", report::Align::right},
                                  {"steps", report::Align::right},
                                  {"validation", report::Align::right},
                                  {"test", report::Align::right},
                                  {"time", report::Align::right}},
                      .rows = {}};
  const bool tags =
      std::any_of(records.begin(), records.end(), [](const auto& one) { return !one.notes.tags.empty(); });
  const bool notes =
      std::any_of(records.begin(), records.end(), [](const auto& one) { return !one.notes.note.empty(); });
  if (tags) table.columns.push_back({"tags"});
  if (notes) table.columns.push_back({"note"});
  for (const store::RunRecord& record : records) {
    table.rows.push_back({record.id, std::string(store::run_state_name(record.state)), record.task, record.mixer,
                          std::to_string(record.width), std::to_string(record.layers), report::format_rate(record.lr),
                          std::to_string(record.seed), grouped(record.steps),
                          report::percent(record.validation_accuracy), report::percent(record.test_accuracy),
                          duration(record.seconds)});
    if (tags) table.rows.back().push_back(join(record.notes.tags, " "));
    if (notes) table.rows.back().push_back(shortened(record.notes.note, kShownNote));
  }
  return table;
}

int runs(const RunsOptions& options, const Context& context) {
  const store::RunQuery query = query_of(options);
  const store::Lab lab = context.lab();
  lab.require();
  store::Index index = open_index(lab);
  const std::vector<store::RunRecord> records = index.query(query);
  const std::int64_t matching = index.count(query.filters);
  if (context.json) {
    Json list = Json::array();
    for (const store::RunRecord& record : records) list.push_back(to_json(record));
    print_json({{"lab", lab.root().string()}, {"matching", matching}, {"runs", list}});
    return 0;
  }
  if (!records.empty()) fmt::print("{}", fit(to_table(records)));
  fmt::print("{} of {} runs in {}{}\n", records.size(), grouped(index.count()), lab.root().string(),
             matching > std::ssize(records) ? fmt::format(" ({} match; --limit 0 shows all)", grouped(matching)) : "");
  return 0;
}

}  // namespace

void add_runs(CLI::App& app, Context& context) {
  auto options = std::make_shared<RunsOptions>();
  app.add_option("filters", options->filters,
                 "KEY=VALUE, or with != < <= > >= (quote these); keys: state, task, mixer, width, layers, lr, seed, "
                 "validation, test, steps, seconds, tag, note (contains), or a path like task.length")
      ->type_name("KEY=VALUE ...");
  app.add_option("--sort", options->sort,
                 "key to sort by; --sort=-KEY for descending order; can be repeated (default: newest first)")
      ->type_name("KEY")
      ->take_all();
  app.add_option("--limit", options->limit, "number of runs to show; 0: all")->capture_default_str();
  app.callback([options, &context] { context.action = [options, &context] { return runs(*options, context); }; });
  add_examples(app,
               "  mneme runs\n"
               "  mneme runs mixer=attention 'lr>1e-3' state=done --sort=-test\n"
               "  mneme runs tag=baseline\n"
               "  mneme runs task.length=64 --json | jq '.runs[].id'");
}

}  // namespace mneme::cli
