#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <map>

#include "cli/command.h"
#include "cli/study_jobs.h"
#include "cli/terminal/fit.h"
#include "cli/terminal/terminal.h"
#include "core/text.h"
#include "report/pages/run_label.h"
#include "report/pages/study_record.h"
#include "report/pages/table.h"
#include "report/stats/format.h"
#include "store/lease_holder.h"
#include "store/leases.h"

namespace mneme::cli {
namespace {

constexpr std::size_t kLogLines = 3;

std::map<store::RunState, std::int64_t> count_states(
    const report::StudyRecord& study,
    const std::unordered_map<std::string, std::pair<store::RunState, std::int64_t>>& states) {
  std::map<store::RunState, std::int64_t> counts;
  for (const std::string& id : study.runs) {
    const auto found = states.find(id);
    ++counts[found == states.end() ? store::RunState::fresh : found->second.first];
  }
  return counts;
}

Json studies_json(const store::Lab& lab, store::Index& index) {
  const auto states = index.states();
  Json list = Json::array();
  for (const report::StudyRecord& study : report::remembered_studies(lab)) {
    Json counts = Json::object();
    for (const auto& [state, count] : count_states(study, states))
      counts[std::string(store::run_state_name(state))] = count;
    list.push_back({{"name", study.name},
                    {"title", study.title},
                    {"scale", study.scale},
                    {"overrides", study.overrides},
                    {"runs", study.runs.size()},
                    {"states", counts}});
  }
  return list;
}

std::int64_t budget(const store::RunRecord& record) {
  return parse_json(record.config, record.id).at("train").at("steps").get<std::int64_t>();
}

Json workers_json(const store::Lab& lab, store::Index& index) {
  Json list = Json::array();
  // Nobody has leased anything yet, and looking shall not make the file.
  if (lab.leases_address().empty() && !std::filesystem::exists(lab.leases_id()) &&
      !std::filesystem::exists(lab.leases()))
    return list;
  for (const store::Lease& lease : store::open_leases(lab, {.holder = store::our_holder()})->live()) {
    const auto record = index.find(lease.run);
    list.push_back({{"run", lease.run},
                    {"attempt", lease.attempt},
                    {"holder", store::describe_holder(lease.holder)},
                    {"mixer", record ? Json(record->mixer) : Json()},
                    {"lr", record ? Json(record->lr) : Json()},
                    {"seed", record ? Json(record->seed) : Json()},
                    {"steps", record ? record->steps : 0},
                    {"budget", record ? Json(budget(*record)) : Json()}});
  }
  return list;
}

Json failures_json(const store::Lab& lab, store::Index& index) {
  Json list = Json::array();
  store::RunQuery query;
  query.filters.push_back(store::parse_run_filter("state=failed"));
  query.order.emplace_back(store::parse_run_key("changed"), true);
  for (const store::RunRecord& record : index.query(query))
    list.push_back({{"run", record.id},
                    {"mixer", record.mixer},
                    {"lr", record.lr},
                    {"seed", record.seed},
                    {"reason", record.reason},
                    {"set_aside", lab.run(record.id).set_aside()},
                    {"log", lab.run(record.id).last_log_lines(kLogLines)}});
  return list;
}

std::vector<std::string> with_overrides(const Json& study) {
  std::vector<std::string> words{study["name"].get<std::string>()};
  for (const Json& assignment : study["overrides"]) words.push_back(assignment.get<std::string>());
  return words;
}

void print_studies(const Json& studies) {
  report::Table table{.columns = {{"study"},
                                  {"scale"},
                                  {"runs", report::Align::right},
                                  {"ended", report::Align::right},
                                  {"done", report::Align::right},
                                  {"diverged", report::Align::right},
                                  {"failed", report::Align::right},
                                  {"running", report::Align::right},
                                  {"title"}},
                      .rows = {}};
  for (const Json& study : studies) {
    const auto count = [&](const char* state) { return study["states"].value(state, std::int64_t{0}); };
    const std::int64_t ended = count("done") + count("diverged") + count("failed") + count("cancelled");
    const auto runs = study["runs"].get<std::int64_t>();
    table.rows.push_back(
        {harmless(join(with_overrides(study), " ")), study["scale"], grouped(runs),
         fmt::format("{:.0f} %", runs > 0 ? 100.0 * static_cast<double>(ended) / static_cast<double>(runs) : 100.0),
         grouped(count("done")), grouped(count("diverged")), grouped(count("failed")), grouped(count("running")),
         harmless(study["title"].get<std::string>())});
  }
  if (table.rows.empty())
    fmt::print("no study has been run in this lab yet\n");
  else
    fmt::print("{}", fit(table));
}

void print_run_line(const Json& run) {
  fmt::print("  {} {}, lr {}, seed {}", run["run"].get<std::string>(),
             run["mixer"].is_string() ? run["mixer"].get<std::string>() : "?",
             run["lr"].is_number() ? report::format_rate(run["lr"].get<double>()) : "?", run["seed"].dump());
}

int status(const Context& context) {
  const store::Lab lab = context.lab();
  lab.require();
  store::Index index = open_index(lab);
  std::string leases_trouble;
  Json workers = Json::array();
  try {
    workers = workers_json(lab, index);
  } catch (const store::DatabaseError& error) {
    // Everything else can be told without it.
    leases_trouble = error.what();
  }
  const Json studies = studies_json(lab, index), failures = failures_json(lab, index), jobs = jobs_json(lab);
  if (context.json) {
    print_json({{"lab", lab.root().string()},
                {"studies", studies},
                {"workers", workers},
                {"leases_trouble", leases_trouble},
                {"jobs", jobs},
                {"failures", failures}});
    return 0;
  }
  print_studies(studies);
  if (leases_trouble.empty())
    fmt::print("\n{} running\n", workers.size());
  else
    fmt::print("\nwho runs what is not known: {}\n", harmless(leases_trouble));
  for (const Json& worker : workers) {
    if (!worker["mixer"].is_string()) {
      fmt::print("  {} is being started, attempt {}, {}\n", worker["run"].get<std::string>(), worker["attempt"].dump(),
                 worker["holder"].get<std::string>());
      continue;
    }
    print_run_line(worker);
    fmt::print(": step {} of {}, attempt {}, {}\n", grouped(worker["steps"].get<std::int64_t>()),
               worker["budget"].dump(), worker["attempt"].dump(), worker["holder"].get<std::string>());
  }
  print_jobs(jobs);
  if (failures.empty()) return 0;
  fmt::print("\n{} failed\n", failures.size());
  for (const Json& failure : failures) {
    print_run_line(failure);
    fmt::print(": {}{}\n", harmless(failure["reason"].get<std::string>()),
               failure["set_aside"].get<bool>() ? " (use `mneme retry` to run it again)" : "");
    for (const Json& line : failure["log"]) fmt::print("      {}\n", harmless(line.get<std::string>()));
  }
  return 0;
}

}  // namespace

void add_status(CLI::App& app, Context& context) {
  app.callback([&context] { context.action = [&context] { return status(context); }; });
  add_examples(app, "  mneme status\n  mneme status --json | jq '.workers[].run'");
}

}  // namespace mneme::cli
