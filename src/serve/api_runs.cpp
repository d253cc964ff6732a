// Tables of runs, one run, and several side by side.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>

#include "core/error.h"
#include "core/text.h"
#include "report/stats/format.h"
#include "serve/api.h"
#include "store/evaluations.h"
#include "store/run_code.h"
#include "study/run_filters.h"

namespace mneme::serve {
namespace {

constexpr std::size_t kMostColumns = 40;
constexpr std::size_t kLogLines = 200;
constexpr std::size_t kMostPairs = 10;
constexpr std::uintmax_t kMostFileBytes = 16 << 20;

// Columns that are not taken from the configuration, and the fields of the configuration that they abbreviate.
const std::set<std::string> kNamedFields = {"task.name", "model.mixer", "model.width", "model.layers",
                                            "train.lr",  "train.seed",  "train.steps"};

// The file's content; null if it is missing, too large or damaged.
Json file_or_null(const Path& file) {
  std::error_code missing;
  const std::uintmax_t size = std::filesystem::file_size(file, missing);
  if (missing || size > kMostFileBytes) return {};
  try {
    return parse_json(read_file(file), file.string());
  } catch (const Error&) {
    return {};
  }
}

Json member(const Json& object, const char* name) {
  return object.is_object() && object.contains(name) ? object.at(name) : Json();
}

// Where a column of a curve comes from.
struct CurveColumn {
  const char* name;
  const char* part;  // of a line of metrics.jsonl; "": computed
  const char* key;
};
constexpr CurveColumn kCurve[] = {{"step", "", ""},
                                  {"tokens", "", ""},
                                  {"seconds", "times", "seconds"},
                                  {"flops", "", ""},
                                  {"train_loss", "values", "train_loss"},
                                  {"train_accuracy", "values", "train_accuracy"},
                                  {"loss", "values", "loss"},
                                  {"accuracy", "values", "accuracy"},
                                  {"exact_match", "values", "exact_match"},
                                  {"lr", "values", "learning_rate"},
                                  {"gradient_norm", "values", "gradient_norm"},
                                  {"gradient_norm_max", "values", "gradient_norm_max"},
                                  {"parameter_norm", "values", "parameter_norm"},
                                  {"step_seconds", "times", "step_seconds"}};

Json curve_columns() {
  Json names = Json::array();
  for (const CurveColumn& column : kCurve) names.push_back(column.name);
  return names;
}

std::vector<Json> metrics_of(const store::RunDirectory& directory) {
  try {
    return directory.metrics();
  } catch (const Error&) {
    return {};  // the lab's list of damaged runs says why
  }
}

// The first evaluation at which what both runs measured differs; null if none does.
Json first_parting(const std::vector<Json>& a, const std::vector<Json>& b) {
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    const Json left = member(a[i], "step"), right = member(b[i], "step");
    if (left != right) return std::min(left, right);
    const Json mine = member(a[i], "values"), theirs = member(b[i], "values");
    if (!mine.is_object() || !theirs.is_object()) continue;
    for (const auto& [key, value] : mine.items())
      if (theirs.contains(key) && theirs.at(key) != value) return left;
  }
  return {};
}

std::string value_text(const std::string& field, const Json& value) {
  if (field == "train.lr" && value.is_number()) return report::format_rate(value.get<double>());
  return value.is_string() ? value.get<std::string>() : value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string last_part(const std::string& field) { return field.substr(field.rfind('.') + 1); }

// What `mneme evaluate` has kept. One that is damaged says so, and the others are shown.
Json evaluations_of(const store::RunDirectory& directory) {
  Json list = Json::array();
  for (const std::string& name : store::evaluation_names(directory)) {
    Json one = {{"name", name}, {"trouble", Json()}, {"axis", Json()}, {"points", Json::array()}};
    try {
      const Json evaluation = store::load_evaluation(directory, name).value_or(Json::object());
      const Json values = member(evaluation, "values");
      one["step"] = member(evaluation, "step");
      one["axis"] = member(values, "axis");
      one["task"] = member(member(evaluation, "asked"), "task");
      const Json points = member(values, "points");
      for (const Json& point : points.is_array() ? points : Json::array()) {
        Json kept = {{"notes", member(point, "notes")}};
        for (const char* key : {"value", "length", "examples", "loss", "accuracy", "exact_match"})
          kept[key] = member(point, key);
        one["points"].push_back(std::move(kept));
      }
    } catch (const Error& error) {
      one["trouble"] = error.what();
    }
    list.push_back(std::move(one));
  }
  return list;
}

}  // namespace

const Api::Columns& Api::columns() {
  if (columns_.population == view_.population()) return columns_;
  struct Named {
    const char *key, *type, *unit;
  };
  constexpr Named kNamed[] = {{"id", "text", ""},
                              {"state", "state", ""},
                              {"reason", "text", ""},
                              {"task", "text", ""},
                              {"mixer", "text", ""},
                              {"width", "number", ""},
                              {"layers", "number", ""},
                              {"lr", "number", ""},
                              {"seed", "number", ""},
                              {"steps", "number", "steps"},
                              {"budget", "number", "steps"},
                              {"seconds", "number", "s"},
                              {"validation", "number", "fraction"},
                              {"test", "number", "fraction"},
                              {"changed", "number", "time"},
                              {"studies", "text", ""},
                              {"tags", "text", ""},
                              {"note", "text", ""}};
  columns_ = {.population = view_.population(), .columns = Json::array(), .fields = {}};
  for (const Named& one : kNamed)
    columns_.columns.push_back({{"key", one.key}, {"type", one.type}, {"unit", one.unit}});
  const FieldTable& fields = view_.fields();
  std::vector<std::string> all;
  for (const auto& [run, brief] : view_.runs()) all.push_back(run);
  for (const FieldTable::Field field : fields.differing(all)) {
    if (kNamedFields.contains(fields.name(field)) || columns_.fields.size() >= kMostColumns) continue;
    columns_.fields.push_back(field);
    bool numbers = true;
    for (const Json& value : fields.values(all, field)) numbers &= value.is_number();
    columns_.columns.push_back({{"key", fields.name(field)}, {"type", numbers ? "number" : "text"}, {"unit", ""}});
  }
  return columns_;
}

Json Api::runs(const std::vector<std::string>& filters, const std::optional<std::vector<std::string>>& only) {
  store::RunQuery query;
  for (const std::string& filter : filters) query.filters.push_back(study::parse_filter(filter));
  std::vector<std::string> ids;
  if (only) {
    for (const std::string& id : *only)
      if (view_.find(id)) ids.push_back(id);
  } else {
    for (const auto& [run, brief] : view_.runs()) ids.push_back(run);
  }
  if (!filters.empty()) {
    if (only) query.filters.push_back({store::parse_run_key("id"), "=", {ids.begin(), ids.end()}});
    std::set<std::string> fitting;
    if (!ids.empty())
      for (const store::RunRecord& record : view_.index().query(query)) fitting.insert(record.id);
    std::erase_if(ids, [&](const std::string& id) { return !fitting.contains(id); });
  }
  std::sort(ids.begin(), ids.end(), [&](const std::string& a, const std::string& b) {
    const std::int64_t left = view_.find(a)->changed, right = view_.find(b)->changed;
    return left != right ? left > right : a < b;
  });
  const FieldTable& fields = view_.fields();
  const Columns& table = columns();
  Json rows = Json::array();
  for (const std::string& id : ids) {
    const RunBrief* brief = view_.find(id);
    Json row = {id,
                store::run_state_name(brief->state),
                brief->reason,
                brief->task,
                brief->mixer,
                fields.value(id, "model.width"),
                fields.value(id, "model.layers"),
                brief->lr,
                brief->seed,
                brief->steps,
                fields.value(id, "train.steps"),
                brief->seconds,
                number_or_null(brief->validation),
                number_or_null(brief->test),
                static_cast<double>(brief->changed) / 1e9,
                join(view_.studies_of(id), " "),
                brief->tags,
                brief->note};
    for (const FieldTable::Field field : table.fields) {
      const Json& value = fields.value(id, field);
      row.push_back(value.is_array() ? Json(value.dump()) : value);
    }
    rows.push_back(std::move(row));
  }
  Json json = begin();
  json["matching"] = rows.size();
  if (only) json["partial"] = true;
  json["total"] = view_.runs().size();
  json["columns"] = table.columns;
  json["rows"] = std::move(rows);
  return json;
}

Json Api::run(const std::string& id) {
  const auto record = view_.index().find(id);
  if (!record) throw Error(ErrorKind::data, id, "the run is gone");
  const store::RunDirectory directory = view_.lab().run(id);
  const Json summary = record->summary.empty() ? Json() : parse_json(record->summary, id);
  const Json values = member(summary, "values");
  Json studies = Json::array();
  std::set<std::string> others;
  for (const std::string& key : view_.studies_of(id)) {
    const StudyView& study = *view_.study(key);
    studies.push_back({{"key", key}, {"title", study.record.title}, {"scale", study.record.scale}});
    others.insert(study.record.runs.begin(), study.record.runs.end());
  }
  if (studies.empty())
    for (const auto& [run, brief] : view_.runs()) others.insert(run);
  const std::vector<std::string> among(others.begin(), others.end());
  FieldTable& fields = view_.fields();
  Json differs = Json::array();
  for (const FieldTable::Field field : fields.differing(among)) {
    if (fields.value(id, field).is_null()) continue;
    std::vector<Json> rest = fields.values(among, field);
    std::erase(rest, fields.value(id, field));
    differs.push_back({{"key", fields.name(field)}, {"value", fields.value(id, field)}, {"others", rest}});
  }
  Json attempts;
  try {
    const store::Attempt attempt = directory.attempt();
    attempts = {{"number", attempt.number}, {"deaths", attempt.deaths}, {"holder", attempt.holder}};
  } catch (const Error&) {
    // Damaged: it says nothing of the results.
  }
  Json code = Json::array();
  for (const CodeIdentity& one : store::codes_of(directory)) code.push_back(describe(one));
  const auto facts = view_.facts(id);
  Json json = begin();
  json.update({{"id", id},
               {"state", store::run_state_name(record->state)},
               {"outcome", member(summary, "outcome")},
               {"reason", record->reason},
               {"tags", record->notes.tags},
               {"note", record->notes.note},
               {"task", record->task},
               {"mixer", record->mixer},
               {"step", record->steps},
               {"steps", facts ? Json(facts->budget) : Json()},
               {"config", parse_json(record->config, id)},
               {"differs", differs},
               {"studies", studies},
               {"attempts", attempts},
               {"environment", file_or_null(directory.path() / "environment.json")},
               {"code", code},
               {"log", directory.last_log_lines(kLogLines)},
               {"times", member(summary, "times")},
               {"traces", member(file_or_null(directory.path() / "traces.json"), "signals")},
               {"inspect", file_or_null(directory.path() / "inspect.json")},
               {"evaluations", evaluations_of(directory)}});
  for (const char* name : {"validation", "test", "best", "parameters", "weights_sha256", "generalisation", "phases"})
    json[name] = member(values, name);
  return json;
}

Json Api::curve_rows(const std::string& id, std::int64_t from) {
  const auto facts = view_.facts(id);
  Json rows = Json::array();
  for (const Json& metric : metrics_of(view_.lab().run(id))) {
    const Json step = member(metric, "step");
    if (!step.is_number() || step.get<std::int64_t>() <= from) continue;
    const auto steps = step.get<double>();
    Json row = Json::array();
    for (const CurveColumn& column : kCurve) {
      const std::string_view name = column.name;
      if (name == "step")
        row.push_back(step);
      else if (name == "tokens")
        row.push_back(facts ? Json(steps * static_cast<double>(facts->tokens_per_step)) : Json());
      else if (name == "flops")
        row.push_back(facts ? Json(steps * facts->flops_per_step) : Json());
      else
        row.push_back(member(member(metric, column.part), column.key));
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

Json Api::curves(const std::string& id, std::int64_t from) {
  Json json = begin();
  json["id"] = id;
  json["columns"] = curve_columns();
  json["rows"] = curve_rows(id, from);
  return json;
}

Json Api::compare(const std::vector<std::string>& ids) {
  FieldTable& fields = view_.fields();
  const std::vector<FieldTable::Field> differing = fields.differing(ids);
  Json runs = Json::array(), differs = Json::array(), parts = Json::array();
  for (const std::string& id : ids) {
    Json point = Json::object();
    std::vector<std::string> words = {view_.find(id)->mixer};
    for (const FieldTable::Field field : differing) {
      const std::string& name = fields.name(field);
      const Json& value = fields.value(id, field);
      if (name == "train.seed" || value.is_null()) continue;
      point[name] = value;
      if (name != "model.mixer") words.push_back(last_part(name) + " " + value_text(name, value));
    }
    runs.push_back({{"id", id},
                    {"state", store::run_state_name(view_.find(id)->state)},
                    {"label", join(words, ", ")},
                    {"point", point},
                    {"seed", view_.find(id)->seed},
                    {"curves", {{"columns", curve_columns()}, {"rows", curve_rows(id, -1)}}}});
  }
  for (const FieldTable::Field field : differing) {
    Json values = Json::array();
    for (const std::string& id : ids) values.push_back(fields.value(id, field));
    differs.push_back({{"key", fields.name(field)}, {"values", values}});
  }
  if (ids.size() <= kMostPairs) {
    std::vector<std::vector<Json>> metrics;
    for (const std::string& id : ids) metrics.push_back(metrics_of(view_.lab().run(id)));
    for (std::size_t i = 0; i < ids.size(); ++i)
      for (std::size_t j = i + 1; j < ids.size(); ++j)
        parts.push_back({{"a", ids[i]}, {"b", ids[j]}, {"step", first_parting(metrics[i], metrics[j])}});
  }
  Json json = begin();
  json["runs"] = std::move(runs);
  json["differs"] = std::move(differs);
  json["parts"] = std::move(parts);
  return json;
}

}  // namespace mneme::serve
