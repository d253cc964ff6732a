// The figures and tables of the papers: ours, from the lab and from kept results, next to what the papers say.
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <set>

#include "core/error.h"
#include "core/text.h"
#include "report/claims/reproduction_state.h"
#include "report/claims/scales.h"
#include "report/pages/kept_results.h"
#include "report/pages/study_files.h"
#include "report/stats/matrix.h"
#include "report/stats/rows.h"
#include "serve/api.h"
#include "serve/figure_json.h"

namespace mneme::serve {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kMostValues = 8;

std::int64_t time_of(const Path& file) {
  struct stat status {};
  return ::stat(file.c_str(), &status) == 0 ? status.st_mtim.tv_sec * 1'000'000'000LL + status.st_mtim.tv_nsec : 0;
}

// The lab's record of a study at a scale.
std::string key_of(const report::Reproduction& item, const std::string& scale) {
  study::Study named;
  named.name = item.study;
  named.scale = scale;
  return named.file_name();
}

Json summary_of(const report::ReproductionState& state) {
  Json summary = {{"item", state.item->id},     {"title", state.item->what},  {"paper", state.item->id.substr(0, 1)},
                  {"study", state.item->study}, {"scale", state.study.scale}, {"scales", state.study.scales},
                  {"kept_runs", state.kept},    {"ended_runs", state.ended},  {"planned_runs", state.planned}};
  for (const report::Verdict verdict : report::kVerdicts) {
    std::string name = report::verdict_name(verdict);
    std::replace(name.begin(), name.end(), ' ', '_');
    summary[name] = report::count_with(state.claims(), verdict);
  }
  return summary;
}

void add_leaves(const Json& object, const std::string& path, std::map<std::string, std::set<Json>>& values) {
  for (const auto& [key, value] : object.items()) {
    const std::string name = path.empty() ? key : path + "." + key;
    if (value.is_object())
      add_leaves(value, name, values);
    else
      values[name].insert(value);
  }
}

std::map<std::string, std::set<Json>> values_of(const study::Study& study) {
  std::map<std::string, std::set<Json>> values;
  for (const config::RunConfig& run : study.runs) add_leaves(run.json(), "", values);
  // They follow from train.seed.
  std::erase_if(values, [](const auto& one) { return one.first.ends_with("_seed"); });
  return values;
}

std::string text_of(const Json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// "64", "32, 64, 128", "0.0001 to 0.1 (13 values)".
std::string values_text(const std::set<Json>& values) {
  if (values.empty()) return "-";
  if (values.size() > kMostValues)
    return fmt::format("{} to {} ({} values)", text_of(*values.begin()), text_of(*values.rbegin()), values.size());
  std::vector<std::string> texts;
  for (const Json& value : values) texts.push_back(text_of(value));
  return join(texts, ", ");
}

// Fields whose values differ between our scale and the paper's.
Json settings_of(const study::Study& ours) {
  Json settings = Json::array();
  if (ours.scale == "paper" || std::find(ours.scales.begin(), ours.scales.end(), "paper") == ours.scales.end())
    return settings;
  const auto mine = values_of(ours);
  auto theirs = values_of(report::open_study(ours.name, {"paper", {}}));
  for (const auto& [key, values] : mine)
    if (theirs[key] != values)
      settings.push_back({{"key", key}, {"ours", values_text(values)}, {"paper", values_text(theirs[key])}});
  return settings;
}

// Mean of the metric (test accuracy, if none is named) over the rows at the rate that is best on validation; null
// without results.
Json ours_of(const study::PaperValue& value, const std::vector<report::ResultRow>& rows) {
  struct Sums {
    double validation = 0, measured = 0, count = 0;
  };
  std::map<double, Sums> rates;
  for (const report::ResultRow& row : rows) {
    if (!report::is_result(row) || !value.conditions.hold_for(row.config)) continue;
    const auto measured =
        value.metric.empty() ? report::counted_test_accuracy(row) : report::metric_of(row, value.metric);
    if (!measured) continue;
    Sums& sums = rates[report::learning_rate(row)];
    sums.validation += report::counted_validation_accuracy(row);
    sums.measured += *measured;
    ++sums.count;
  }
  const Sums* best = nullptr;
  for (const auto& [rate, sums] : rates)
    if (!best || sums.validation / sums.count > best->validation / best->count) best = &sums;
  return best ? Json(best->measured / best->count) : Json();
}

// What the paper reports, and which of our runs it is about: by the axes that tell these from the others. What it says
// of runs that this scale does not have is left out.
Json says_of(const study::Study& study, const std::vector<report::ResultRow>& rows) {
  Json says = Json::array();
  std::vector<Json> configs;
  if (!study.paper.empty())
    for (const config::RunConfig& run : study.runs) configs.push_back(run.json());
  for (const study::PaperValue& one : study.paper) {
    if (std::none_of(configs.begin(), configs.end(), [&](const Json& run) { return one.conditions.hold_for(run); }))
      continue;
    std::vector<std::string> about;
    for (const study::Axis& axis : study.axes) {
      if (axis.path == "train.lr" || axis.path == "train.seed") continue;
      Json::json_pointer at;
      for (const std::string& part : split(axis.path, '.')) at /= part;
      std::set<Json> met, all;
      for (const Json& config : configs) {
        if (!config.contains(at)) continue;
        all.insert(config.at(at));
        if (one.conditions.hold_for(config)) met.insert(config.at(at));
      }
      if (met.size() == all.size()) continue;
      std::vector<std::string> values;
      for (const Json& value : met) values.push_back(report::field_text(axis.path, value));
      about.push_back(join(values, " or "));
    }
    if (one.at) about.push_back(fmt::format("at {:g}", *one.at));
    if (!one.metric.empty()) about.push_back(one.metric);
    // Values along the generalisation axis are in the figure's own table.
    const bool along = one.at || one.metric.starts_with("generalisation.");
    says.push_back({{"about", join(about, ", ")},
                    {"ours", along ? Json() : ours_of(one, rows)},
                    {"shown", one.shown()},
                    {"value", one.value ? Json(*one.value) : Json()},
                    {"passes", one.passes ? Json(*one.passes) : Json()}});
  }
  return says;
}

}  // namespace

std::string Api::default_scale(const report::Reproduction& item) const {
  if (item.sizes) return "paper";
  std::string best(study::kDefaultScale);
  const std::vector<std::string> kept = results_.empty() ? std::vector<std::string>{} : kept_scales(item, results_);
  for (const std::string scale : {"laptop", "workstation", "paper"}) {
    const StudyView* swept = view_.study(key_of(item, scale));
    const bool has_results =
        swept && std::any_of(swept->record.runs.begin(), swept->record.runs.end(), [&](const std::string& run) {
          const RunBrief* brief = view_.find(run);
          return brief && brief->is_result();
        });
    if (has_results || std::find(kept.begin(), kept.end(), scale) != kept.end()) best = scale;
  }
  return best;
}

Api::Judged& Api::judge(const report::Reproduction& item, const std::string& scale, bool whole) {
  Judged& judged = judged_[item.id + " " + scale];
  const StudyView* swept = view_.study(key_of(item, scale));
  const std::uint64_t results = swept ? swept->results + 1 : 0;
  const std::int64_t kept_time = results_.empty() ? 0 : time_of(report::kept_file(results_, item.id, scale));
  const bool current = judged.done && judged.results == results && judged.kept_time == kept_time;
  if ((current || (judged.done && Clock::now() < judged.next)) && (!whole || !judged.whole.is_null())) return judged;
  const auto start = Clock::now();
  const report::ReproductionState state =
      results_.empty() ? report::state_in_lab(item, scale, view_.lab(), &view_.index())
                       : report::state_in_both(item, scale, view_.lab(), &view_.index(), results_);
  judged.summary = summary_of(state);
  if (whole) {
    const report::Paper& paper = report::find_paper(item.id.substr(0, 1));
    Json scales = Json::array(), figures = Json::array();
    const std::vector<std::string> kept =
        results_.empty() ? std::vector<std::string>{} : report::kept_scales(item, results_);
    for (const std::string& name : state.study.scales)
      scales.push_back({{"name", name}, {"kept", std::find(kept.begin(), kept.end(), name) != kept.end()}});
    std::string trouble;
    try {
      if (!item.sizes)
        figures =
            figures_json(report::build_figures(state.rows, state.subject), state.subject.figures, state.subject.title);
    } catch (const Error& error) {
      trouble = error.what();
    }
    judged.whole = judged.summary;
    judged.whole.update({{"also", item.also},
                         {"what", item.what},
                         {"paper", {{"letter", paper.letter}, {"title", paper.title}}},
                         {"scales", scales},
                         {"figures", figures},
                         {"figures_trouble", trouble.empty() ? Json() : Json(trouble)},
                         {"claims", claims_json(state.claims())},
                         {"says", says_of(state.study, state.rows)},
                         {"settings", item.sizes ? Json::array() : settings_of(state.study)},
                         {"sizes", item.sizes ? table_json(report::size_table(state.study)) : Json()}});
  } else {
    judged.whole = Json();
  }
  judged.results = results;
  judged.kept_time = kept_time;
  judged.done = true;
  judged.next = Clock::now() + kPauseFactor * (Clock::now() - start);
  return judged;
}

Json Api::judged_summary(const report::Reproduction& item) {
  const std::string scale = default_scale(item);
  try {
    return judge(item, scale, false).summary;
  } catch (const std::exception& error) {
    Json summary = {{"item", item.id},        {"title", item.what}, {"paper", item.id.substr(0, 1)},
                    {"study", item.study},    {"scale", scale},     {"scales", Json::array()},
                    {"trouble", error.what()}};
    for (const char* count :
         {"kept_runs", "ended_runs", "planned_runs", "confirmed", "contradicted", "undecided", "not_run"})
      summary[count] = 0;
    return summary;
  }
}

bool Api::work_ahead() {
  const std::vector<report::Reproduction>& items = report::reproductions();
  if (next_item_ >= items.size()) return false;
  judged_summary(items[next_item_++]);
  // The page asks again when it hears of a change: not for each item, that would be two dozen times.
  if (next_item_ % 6 == 0 || next_item_ == items.size()) view_.next_generation();
  return true;
}

Json Api::papers() {
  Json items = Json::array();
  const std::vector<report::Reproduction>& all = report::reproductions();
  for (std::size_t i = 0; i < next_item_; ++i) items.push_back(judged_summary(all[i]));
  Json papers = Json::array();
  for (const char* letter : {"A", "B"})
    papers.push_back({{"letter", letter}, {"title", report::find_paper(letter).title}});
  Json json = begin();
  json["ready"] = next_item_ >= all.size();
  json["papers"] = papers;
  json["items"] = items;
  return json;
}

Json Api::paper(const std::string& name, std::string scale) {
  const report::Reproduction& item = report::find_reproduction(name);
  if (scale.empty()) scale = default_scale(item);
  const std::vector<std::string> known = {"smoke", "laptop", "workstation", "paper"};
  if (std::find(known.begin(), known.end(), scale) == known.end())
    throw Error(ErrorKind::usage, "scale",
                fmt::format("unknown scale '{}'{}", shortened(scale, 40), suggestion(scale, known)));
  Json json = begin();
  json.update(judge(item, item.sizes ? "paper" : scale, true).whole);
  return json;
}

}  // namespace mneme::serve
