// One study: its grid, its figures, what it cost.
#include <algorithm>
#include <set>

#include "core/text.h"
#include "serve/api.h"
#include "study/window.h"

namespace mneme::serve {
namespace {

using store::RunState;

Json value_at(const Json& config, const std::string& path) {
  const Json* at = &config;
  for (const std::string& part : split(path, '.')) {
    if (!at->is_object() || !at->contains(part)) return {};
    at = &at->at(part);
  }
  return *at;
}

std::string state_of(const RunBrief* brief) {
  if (!brief || brief->state == RunState::fresh) return "waiting";
  if (brief->state == RunState::done && brief->accuracy().value_or(0) >= study::WindowRule{}.threshold) return "solved";
  return std::string(store::run_state_name(brief->state));
}

// Results of one learning rate.
struct RateCell {
  double validation = 0, test = 0;  // sums
  double least = 1, most = 0;
  std::vector<std::string> runs;

  double mean(double sum) const { return sum / static_cast<double>(runs.size()); }
};

}  // namespace

std::vector<std::string> Api::due_studies() {
  std::vector<std::string> due;
  for (auto& [key, drawn] : drawn_)
    if (drawn.came_due()) due.push_back(key);
  return due;
}

bool Api::gather_more() {
  bool more = false;
  for (auto& [key, drawn] : drawn_) more |= drawn.gather_more(view_);
  return more;
}

Json Api::cells_of(const StudyView& study, const StudyFigures& drawn, Json& axes, Json& best) {
  const report::StudyRecord& record = study.record;
  std::vector<std::string> paths = record.fields;
  std::vector<std::vector<Json>> points(record.runs.size());
  if (!paths.empty() && record.points.size() == record.runs.size()) {
    for (std::size_t i = 0; i < points.size(); ++i)
      for (std::size_t k = 0; k < paths.size(); ++k)
        points[i].push_back(k < record.points[i].size() ? record.points[i][k] : Json());
  } else if (drawn.opened()) {
    paths.clear();
    for (const study::Axis& axis : drawn.opened()->axes) paths.push_back(axis.path);
    std::map<std::string, Json> configs;
    for (const config::RunConfig& run : drawn.opened()->runs) configs[run.id] = run.json();
    for (std::size_t i = 0; i < points.size(); ++i)
      for (const std::string& path : paths) points[i].push_back(value_at(configs.at(record.runs[i]), path));
  } else {
    FieldTable& fields = view_.fields();
    const auto differing = fields.differing(record.runs);
    paths.clear();
    for (const auto field : differing) paths.push_back(fields.name(field));
    for (std::size_t i = 0; i < points.size(); ++i)
      for (const auto field : differing) points[i].push_back(fields.value(record.runs[i], field));
  }
  axes = Json::array();
  for (std::size_t k = 0; k < paths.size(); ++k) {
    std::set<Json> values;
    for (const auto& point : points)
      if (!point[k].is_null()) values.insert(point[k]);
    axes.push_back({{"key", paths[k]}, {"values", values}});
  }

  Json cells = Json::array();
  std::map<std::string, std::pair<Json, std::map<double, RateCell>>> groups;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const RunBrief* brief = view_.find(record.runs[i]);
    Json point = Json::object(), seed, group = Json::object();
    for (std::size_t k = 0; k < paths.size(); ++k) {
      if (paths[k] == "train.seed") {
        seed = points[i][k];
        continue;
      }
      point[paths[k]] = points[i][k];
      if (paths[k] != "train.lr") group[paths[k]] = points[i][k];
    }
    if (seed.is_null() && brief) seed = brief->seed;
    cells.push_back({{"run", record.runs[i]},
                     {"point", point},
                     {"seed", seed},
                     {"state", !brief && view_.is_unread(record.runs[i]) ? "unread" : state_of(brief)},
                     {"accuracy", brief ? number_or_null(brief->accuracy()) : Json()},
                     {"validation", brief ? number_or_null(brief->validation) : Json()}});
    if (!brief || !brief->is_result()) continue;
    auto& [values, rates] = groups[group.dump(-1, ' ', false, Json::error_handler_t::replace)];
    values = group;
    RateCell& cell = rates[brief->lr];
    const double validation = brief->validation.value_or(0), test = brief->test.value_or(validation);
    cell.validation += validation;
    cell.test += test;
    cell.least = std::min(cell.least, test);
    cell.most = std::max(cell.most, test);
    cell.runs.push_back(record.runs[i]);
  }
  best = Json::array();
  for (auto& [key, group] : groups) {
    auto& [point, rates] = group;
    // The lower rate among equals.
    auto chosen = rates.begin();
    for (auto rate = rates.begin(); rate != rates.end(); ++rate)
      if (rate->second.mean(rate->second.validation) > chosen->second.mean(chosen->second.validation)) chosen = rate;
    const RateCell& cell = chosen->second;
    point["train.lr"] = chosen->first;
    best.push_back({{"point", point},
                    {"runs", cell.runs},
                    {"accuracy", cell.mean(cell.test)},
                    {"least", cell.least},
                    {"most", cell.most},
                    {"validation", cell.mean(cell.validation)}});
  }
  return cells;
}

Json Api::cost_of(const StudyView& study, const StudyFigures& drawn) {
  std::map<std::string, double> planned;  // FLOPs of runs that the lab has not
  if (drawn.opened())
    for (const config::RunConfig& run : drawn.opened()->runs)
      if (!view_.find(run.id)) planned[run.id] = run.training_flops();
  double seconds = 0, flops = 0, tokens = 0, flops_left = 0;
  bool all_known = true;
  int running = 0;
  for (const std::string& run : study.record.runs) {
    const RunBrief* brief = view_.find(run);
    if (!brief && view_.is_unread(run)) continue;
    if (!brief) {
      all_known &= planned.contains(run);
      flops_left += all_known ? planned[run] : 0;
      continue;
    }
    running += brief->state == RunState::running;
    seconds += brief->seconds;
    const auto facts = view_.facts(run);
    if (!facts) continue;
    flops += static_cast<double>(brief->steps) * facts->flops_per_step;
    tokens += static_cast<double>(brief->steps * facts->tokens_per_step);
    if (!brief->is_result() && brief->state != RunState::cancelled)
      flops_left +=
          static_cast<double>(std::max<std::int64_t>(facts->budget - brief->steps, 0)) * facts->flops_per_step;
  }
  const auto left = seconds_left(study);
  return {{"seconds", seconds},
          {"flops", flops},
          {"tokens", tokens},
          {"seconds_to_go", left ? Json(*left * std::max(1, running)) : Json()},
          {"flops_to_go", all_known ? Json(flops_left) : Json()}};
}

Json Api::study(const std::string& key) {
  const StudyView& study = *view_.study(key);
  StudyFigures& drawn = drawn_[key];
  drawn.update(study, view_, drawn_at_once_);
  Json json = begin(), axes, best;
  json.update(counts_of(study));
  json["seconds_left"] = number_or_null(seconds_left(study));
  json["solved_at"] = study::WindowRule{}.threshold;
  json["cells"] = cells_of(study, drawn, axes, best);
  json["axes"] = axes;
  json["best"] = best;
  json["cost"] = cost_of(study, drawn);
  json["figures"] = drawn.figures();
  json["figures_pending"] = drawn.is_pending() || json["unread"] > 0;
  json["figures_trouble"] = drawn.trouble().empty() ? Json() : Json(drawn.trouble());
  json["claims"] = drawn.claims();
  return json;
}

}  // namespace mneme::serve
