#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <optional>
#include <set>

#include "cli/command.h"
#include "cli/terminal/fit.h"
#include "cli/terminal/terminal.h"
#include "core/text.h"
#include "report/pages/run_label.h"
#include "report/pages/table.h"
#include "store/run_code.h"

namespace mneme::cli {
namespace {

std::string path_of(std::string pointer) {
  std::replace(pointer.begin(), pointer.end(), '/', '.');
  return pointer.substr(1);
}

// Paths at which the configurations differ; what one of them lacks is null.
Json config_difference(const Json& a, const Json& b) {
  const Json flat_a = a.flatten(), flat_b = b.flatten();
  std::set<std::string> pointers;
  for (const Json* flat : {&flat_a, &flat_b})
    for (const auto& [pointer, value] : flat->items()) pointers.insert(pointer);
  Json differences = Json::array();
  for (const std::string& pointer : pointers) {
    const Json left = flat_a.value(pointer, Json()), right = flat_b.value(pointer, Json());
    if (left != right) differences.push_back({{"path", path_of(pointer)}, {"a", left}, {"b", right}});
  }
  return differences;
}

// The first evaluation whose deterministic values are not the same, and what they are; null if one is the other's
// beginning.
Json first_parting(const std::vector<Json>& a, const std::vector<Json>& b) {
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    const Json left = {{"step", a[i].at("step")}, {"values", a[i].at("values")}};
    const Json right = {{"step", b[i].at("step")}, {"values", b[i].at("values")}};
    if (left != right) return {{"step", std::min(left["step"], right["step"])}, {"a", left}, {"b", right}};
  }
  return {};
}

std::string shown(const Json& value) {
  if (value.is_null()) return "-";
  return harmless(value.is_string() ? value.get<std::string>() : value.dump());
}

std::string code_text(const store::RunDirectory& directory) {
  std::vector<std::string> parts;
  for (const CodeIdentity& code : store::codes_of(directory)) parts.push_back(describe(code));
  return parts.empty() ? describe(CodeIdentity{}) : join(parts, "; ");
}

int diff(const std::vector<std::string>& runs, const Context& context) {
  const store::Lab lab = context.lab();
  lab.require();
  store::Index index = open_index(lab);
  const store::RunRecord a = find_record(index, find_run_id(index, runs[0])),
                         b = find_record(index, find_run_id(index, runs[1]));
  const Json config = config_difference(parse_json(a.config, a.id), parse_json(b.config, b.id));
  const std::vector<Json> metrics_a = lab.run(a.id).metrics(), metrics_b = lab.run(b.id).metrics();
  const Json parting = first_parting(metrics_a, metrics_b);
  if (context.json) {
    print_json({{"a", a.id},
                {"b", b.id},
                {"config", config},
                {"evaluations", {{"a", metrics_a.size()}, {"b", metrics_b.size()}}},
                {"metrics_part", parting}});
    return 0;
  }
  report::Table table{.columns = {{"field"}, {a.id}, {b.id}}, .rows = {}};
  for (const Json& one : config) table.rows.push_back({one["path"], shown(one["a"]), shown(one["b"])});
  for (const auto& [name, left, right] :
       {std::tuple{"state", std::string(store::run_state_name(a.state)), std::string(store::run_state_name(b.state))},
        std::tuple{"code", code_text(lab.run(a.id)), code_text(lab.run(b.id))},
        std::tuple{"steps", grouped(a.steps), grouped(b.steps)},
        std::tuple{"validation", report::percent(a.validation_accuracy), report::percent(b.validation_accuracy)},
        std::tuple{"test", report::percent(a.test_accuracy), report::percent(b.test_accuracy)}})
    if (left != right) table.rows.push_back({name, left, right});
  if (table.rows.empty())
    fmt::print("configuration and results are the same\n");
  else
    fmt::print("{}", fit(table));
  if (!parting.is_null())
    fmt::print("\nthe metrics first differ at step {}:\n  {} {}\n  {} {}\n", parting["step"].dump(), a.id,
               parting["a"]["values"].dump(), b.id, parting["b"]["values"].dump());
  else
    fmt::print("\nthe metrics are the same in their {} common evaluations\n",
               std::min(metrics_a.size(), metrics_b.size()));
  return 0;
}

}  // namespace

void add_diff(CLI::App& app, Context& context) {
  auto runs = std::make_shared<std::vector<std::string>>();
  app.add_option("runs", *runs, "two run ids, or their first digits")->required()->expected(2)->type_name("RUN RUN");
  app.callback([runs, &context] { context.action = [runs, &context] { return diff(*runs, context); }; });
  add_examples(app, "  mneme diff 3f2a 91bc\n  mneme diff 3f2a 91bc --json | jq .metrics_part.step");
}

}  // namespace mneme::cli
